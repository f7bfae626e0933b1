# Completion of memoranda for bash.
_memoranda() {
    local current=${COMP_WORDS[COMP_CWORD]} offered word
    [[ $current == '=' ]] && current=''
    offered=$(memoranda help complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    COMPREPLY=()
    if [[ $offered == :files ]]; then
        compopt -o filenames 2>/dev/null
        offered=$(compgen -f -- "$current")
    fi
    while IFS= read -r word; do [[ -z $word ]] || COMPREPLY+=("$word"); done <<< "$offered"
}
complete -F _memoranda memoranda
