# bash completion of mallab: the program itself says what may stand where (mallab --complete WORD...), so that this file
# knows nothing of verbs and options. Installed as share/bash-completion/completions/mallab; or: source it.

# _mallab_words - the words up to the cursor as they were typed: bash splits them at '=' and ':' too (COMP_WORDBREAKS).
_mallab_words()
{
    local rest=${COMP_LINE:0:COMP_POINT} word i joined
    _mallab_typed=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        joined=$rest
        rest=${rest#"${rest%%[![:space:]]*}"}
        word=${COMP_WORDS[i]}
        [[ $i -lt $COMP_CWORD ]] || word=$rest
        if [[ $i -eq 0 || $joined != "$rest" ]]; then
            _mallab_typed+=("$word")
        else
            _mallab_typed[${#_mallab_typed[@]} - 1]+=$word
        fi
        rest=${rest#"$word"}
    done
}

# _mallab_files BEFORE WORD EXTENSION... - files of these endings and directories; all files where there are none.
_mallab_files()
{
    local before=$1 word=$2 extension found=()
    shift 2
    for extension in "$@"; do
        mapfile -t -O ${#found[@]} found < <(compgen -f -X "!*.$extension" -- "$word")
    done
    [[ $# -eq 0 ]] || mapfile -t -O ${#found[@]} found < <(compgen -d -- "$word")
    [[ ${#found[@]} -gt 0 ]] || mapfile -t found < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
    COMPREPLY+=("${found[@]/#/$before}")
}

_mallab_command()
{
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} != -- ]] || break
    done
    if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
    elif [[ $COMP_CWORD -eq $((i + 1)) ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        _mallab_files '' "${COMP_WORDS[COMP_CWORD]}"
    fi
}

_mallab()
{
    local _mallab_typed line before='' word seen strip i
    COMPREPLY=()
    _mallab_words
    word=${_mallab_typed[${#_mallab_typed[@]} - 1]}
    [[ $word != --*=* ]] || before=${word%%=*}=
    while IFS= read -r line; do
        case $line in
            :nospace) compopt -o nospace 2>/dev/null ;;
            :command) _mallab_command; return ;;
            :directories)
                compopt -o filenames 2>/dev/null
                while IFS= read -r line; do COMPREPLY+=("$before$line"); done < <(compgen -d -- "${word#"$before"}")
                ;;
            # An allocator by its path has a slash; else every file would be offered among the candidates.
            ':files so') [[ $word != */* ]] || _mallab_files "$before" "${word#"$before"}" so ;;
            :files*)
                # shellcheck disable=SC2086 # endings, to be split
                _mallab_files "$before" "${word#"$before"}" ${line#:files}
                ;;
            *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${_mallab_typed[0]/#\~/$HOME}" --complete "${_mallab_typed[@]:1}" 2>/dev/null)
    # What readline replaces begins behind the last '=' or ':'.
    seen=${COMP_WORDS[COMP_CWORD]}
    [[ $seen != [=:] ]] || seen=
    strip=${word%"$seen"}
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$strip"}
    done
}

complete -F _mallab mallab
