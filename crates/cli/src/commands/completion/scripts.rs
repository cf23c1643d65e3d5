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
    local current="${COMP_WORDS[COMP_CWORD]}" line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ "$line" == ":files" ]]; then
            compopt -o default 2>/dev/null
            COMPREPLY=()
            return
        fi
        [[ "$line" == */ || "$line" == *= ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _groundplane groundplane
"#;

const ZSH: &str = r#"#compdef groundplane
_groundplane() {
    local line
    local -a found
    for line in "${(@f)$(${words[1]} __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -z "$line" ]] && continue
        if [[ "$line" == ":files" ]]; then
            _files
            return
        fi
        found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe 'groundplane' found
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
