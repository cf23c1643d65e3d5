//! The scripts: each only hands the words to the program and offers what it answers.

/// The script of a shell.
pub fn of(shell: &str) -> &'static str {
    match shell {
        "zsh" => ZSH,
        "fish" => FISH,
        _ => BASH,
    }
}

const BASH: &str = r#"# bash completion for groundplane
_groundplane() {
    local line="${COMP_LINE:0:COMP_POINT}" current cut="" part sign reply
    local -a typed
    read -ra typed <<< "$line"
    [[ "$line" == *[[:space:]] ]] && typed+=("")
    # Assignments before the command are no words of it.
    while [[ ${#typed[@]} -gt 1 && "${typed[0]}" != "${COMP_WORDS[0]}" ]]; do typed=("${typed[@]:1}"); done
    current="${typed[${#typed[@]}-1]}"
    # bash parts words at these, and replaces only what follows the last of them.
    for sign in : =; do
        if [[ "$COMP_WORDBREAKS" == *"$sign"* && "$current" == *"$sign"* ]]; then
            part="${current%"$sign"*}$sign"
            (( ${#part} > ${#cut} )) && cut="$part"
        fi
    done
    COMPREPLY=()
    while IFS= read -r reply; do
        if [[ "$reply" == ":files" ]]; then
            compopt -o default 2>/dev/null
            COMPREPLY=()
            return
        fi
        reply="${reply%%$'\t'*}"
        [[ "$reply" == */ || "$reply" == *= ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${reply#"$cut"}")
    done < <("${COMP_WORDS[0]}" __complete -- "${typed[@]:1}" 2>/dev/null)
}
complete -F _groundplane groundplane
"#;

const ZSH: &str = r#"#compdef groundplane
_groundplane() {
    local line word
    local -a whole open
    for line in "${(@f)$(${words[1]} __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -z "$line" ]] && continue
        if [[ "$line" == ":files" ]]; then
            _files
            return
        fi
        word="${${line%%$'\t'*}//:/\\:}"
        [[ "$line" == *$'\t'* ]] && line="$word:${line#*$'\t'}" || line="$word"
        # More is to come behind these.
        if [[ "$word" == */ || "$word" == *= ]]; then open+=("$line"); else whole+=("$line"); fi
    done
    (( ${#open} )) && _describe 'groundplane' open -S ''
    (( ${#whole} )) && _describe 'groundplane' whole
}
if [[ "${funcstack[1]}" == "_groundplane" ]]; then
    _groundplane "$@"
else
    compdef _groundplane groundplane
fi
"#;

const FISH: &str = r#"# fish completion for groundplane
function __groundplane_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    if test "$found" = ":files"
        __fish_complete_path (commandline -ct)
        return
    end
    printf '%s\n' $found
end
complete -c groundplane -f -a '(__groundplane_complete)'
"#;
