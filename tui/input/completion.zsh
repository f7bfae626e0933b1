#compdef memoranda
# Completion of memoranda for zsh.
_memoranda() {
    local -a offered
    offered=("${(@f)$(memoranda help complete zsh "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ $offered[1] == :files ]]; then
        _files
    elif [[ -n $offered[1] ]]; then
        _describe memoranda offered
    fi
}
if [[ $funcstack[1] == _memoranda ]]; then _memoranda "$@"; else compdef _memoranda memoranda; fi
