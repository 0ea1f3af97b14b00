/** A command as completion needs it. */
export interface CompletionCommand {
  /** words behind the program's name */
  words: string[]
  summary: string
  flags: CompletionFlag[]
}

export interface CompletionFlag {
  name: string
  char?: string | undefined
  description: string
  takesValue: boolean
  options: readonly string[]
}

/** what completion scripts of shells ask the program with; it is no command */
export const COMPLETE = '__complete'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The completion script of a shell: commands, flags and the values of flags that have a fixed set. */
export function completionScript(shell: Shell, bin: string, commands: CompletionCommand[]): string {
  if (shell === 'bash') return bash(bin, commands)
  return shell === 'zsh' ? zsh(bin, commands) : fish(bin, commands)
}

/** What may follow each sequence of words: `` → top level, `spaces` → its verbs. */
function tree(commands: CompletionCommand[]): Map<string, Map<string, string>> {
  const below = new Map<string, Map<string, string>>()
  for (const command of commands) {
    for (const [depth, word] of command.words.entries()) {
      const parent = command.words.slice(0, depth).join(' ')
      const words = below.get(parent) ?? new Map<string, string>()
      const isEnd = depth === command.words.length - 1
      if (isEnd || !words.has(word)) words.set(word, isEnd ? command.summary : (words.get(word) ?? ''))
      below.set(parent, words)
    }
  }
  return below
}

function flagWords(command: CompletionCommand): string[] {
  return command.flags.flatMap((flag) => [`--${flag.name}`, ...(flag.char === undefined ? [] : [`-${flag.char}`])])
}

function bash(bin: string, commands: CompletionCommand[]): string {
  const words = [...tree(commands)].map(([path, below]) => `    '${path}') words='${[...below.keys()].join(' ')}' ;;`)
  const flags = commands.map(
    (command) => `    '${command.words.join(' ')}') flags='${flagWords(command).join(' ')}' ;;`,
  )
  const values = new Map<string, string>()
  for (const flag of commands.flatMap((command) => command.flags)) {
    if (flag.options.length > 0) values.set(`--${flag.name}`, flag.options.join(' '))
  }
  const cases = [...values].map(
    ([flag, options]) => `    ${flag}) COMPREPLY=($(compgen -W '${options}' -- "$cur")); return ;;`,
  )
  return `# bash completion for ${bin}: source <(${bin} completion bash)
_${bin}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' word words='' flags=''
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$prev" in
${cases.join('\n')}
  esac
  while :; do
    case "$path" in
${flags.join('\n')}
    esac
    [ -n "$flags" ] || [ -z "$path" ] && break
    case "$path" in *' '*) path=\${path% *} ;; *) path='' ;; esac
  done
  # the value of a flag is no command
  [ "$prev" = = ] || [ "$cur" = = ] || case "$path" in
${words.join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    # what is typed may hold anything: only letters are compared
    *[!a-z-]*) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
  [ -n "$path" ] || return
  # names come from others: each line is one and is never looked at by the shell. Readline's own quoting leaves backquotes
  # alone, so it is done here; behind an open quotation mark there are only names that need none.
  local value
  while IFS= read -r value; do
    case "$cur" in
      [\\"\\']*) case "$value" in *[!A-Za-z0-9\\ _./:,@%+=-]*) continue ;; esac ;;
      *) printf -v value '%q' "$value" ;;
    esac
    COMPREPLY+=("$value")
  done < <(${bin} ${COMPLETE} bash "$cur" "\${COMP_LINE:0:COMP_POINT}" 2> /dev/null)
}
complete -o default -F _${bin} ${bin}
`
}

// `path` and `words` mean something to zsh itself: the script's own names are others.
function zsh(bin: string, commands: CompletionCommand[]): string {
  const verbs = [...tree(commands)].map(([trail, below]) => {
    const entries = [...below].map(([word, summary]) => `'${word}:${zshText(summary)}'`)
    return `    '${trail}') verbs=(${entries.join(' ')}) ;;`
  })
  const flags = commands.map((command) => {
    const entries = command.flags.map((flag) => `'--${flag.name}:${zshText(flag.description)}'`)
    return `    '${command.words.join(' ')}') flags=(${entries.join(' ')}) ;;`
  })
  return `#compdef ${bin}
# zsh completion for ${bin}: ${bin} completion zsh > "\${fpath[1]}/_${bin}"
_${bin}() {
  local trail='' word
  local -a verbs flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || trail="\${trail:+$trail }$word"
  done
  while true; do
    case "$trail" in
${flags.join('\n')}
    esac
    (( \${#flags} )) && break
    [[ -z $trail ]] && break
    if [[ $trail == *' '* ]]; then trail=\${trail% *}; else trail=''; fi
  done
  case "$trail" in
${verbs.join('\n')}
  esac
  local -a values before
  before=("\${(@Q)words[2,CURRENT-1]}")
  if [[ $PREFIX == --*=* ]]; then
    before+=("\${PREFIX%%=*}")
    compset -P '--*='
    verbs=()
  elif [[ $PREFIX == -* ]]; then
    _describe -o 'flag' flags
    return
  fi
  (( \${#verbs} )) && _describe 'command' verbs
  # names come from others: compadd quotes what it puts into the line
  [[ -z $trail ]] || values=("\${(@f)$(${bin} ${COMPLETE} zsh "\${(Q)PREFIX}" "\${(@)before}" 2> /dev/null)}")
  values=(\${values:#})
  (( \${#values} )) && compadd -- "\${(@)values}" && return
  _files
}
if [ "$funcstack[1]" = "_${bin}" ]; then _${bin} "$@"; else compdef _${bin} ${bin}; fi
`
}

function zshText(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(':', '\\:')
}

function fish(bin: string, commands: CompletionCommand[]): string {
  const lines = [`# fish completion for ${bin}: ${bin} completion fish > ~/.config/fish/completions/${bin}.fish`]
  for (const [path, below] of tree(commands)) {
    const condition = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`
    for (const [word, summary] of below) {
      lines.push(`complete -c ${bin} -n '${condition}' -a '${word}' -d '${fishText(summary)}'`)
    }
  }
  // names come from others: fish quotes what it puts into the line
  const values = `(${bin} ${COMPLETE} fish (commandline -ct) (commandline -opc)[2..-1] 2> /dev/null)`
  lines.push(`complete -c ${bin} -n 'not __fish_use_subcommand' -a '${values}'`)
  const seen = new Set<string>()
  for (const command of commands) {
    const condition = `__fish_seen_subcommand_from ${command.words.at(-1)}`
    for (const flag of command.flags) {
      const key = `${condition} ${flag.name}`
      if (seen.has(key)) continue
      seen.add(key)
      const char = flag.char === undefined ? '' : ` -s ${flag.char}`
      const options = flag.options.length > 0 ? ` -a '${flag.options.join(' ')}'` : ''
      const known = ['space', 'doc', 'context'].includes(flag.name) ? ` -a '${values}'` : options
      const value = flag.takesValue ? ' -r' : ''
      lines.push(
        `complete -c ${bin} -n '${condition}' -l ${flag.name}${char}${value}${known} -d '${fishText(flag.description)}'`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}

function fishText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
