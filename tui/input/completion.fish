# Completion of memoranda for fish.
function __memoranda_offer
    set -l offered (memoranda help complete fish (commandline -cp) 2>/dev/null)
    if test "$offered" = :files
        __fish_complete_path (commandline -ct)
    else
        string join -- \n $offered
    end
end
complete -c memoranda -f -a '(__memoranda_offer)'
