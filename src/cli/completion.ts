/** A command as completion needs it. */
export interface CompletionCommand {
  /** Words after the program's name. */
  words: string[]
  summary: string
  flags: CompletionFlag[]
  /** Whether the program lists values of its arguments at run time. */
  hasDynamicArguments: boolean
  /** Values of an argument with a fixed set. */
  choices: readonly string[]
}

export interface CompletionFlag {
  name: string
  char?: string | undefined
  description: string
  takesValue: boolean
  options: readonly string[]
  /** Whether the program lists its values at run time. */
  hasDynamicValues: boolean
}

/** First argument with which completion scripts call the program; not a command. */
export const COMPLETE_COMMAND = '__complete'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof SHELLS)[number]

/**
 * Builds the completion script of a shell. It contains commands, flags and fixed values; other values are requested
 * from the program (`complete.ts`).
 */
export function renderCompletionScript(shell: CompletionShell, bin: string, commands: CompletionCommand[]): string {
  if (shell === 'bash') return renderBash(bin, commands)
  return shell === 'zsh' ? renderZsh(bin, commands) : renderFish(bin, commands)
}

/** The words that may follow each sequence of words: `` → top level, `spaces` → its verbs. */
function buildWordTree(commands: CompletionCommand[]): Map<string, Map<string, string>> {
  const children = new Map<string, Map<string, string>>()
  for (const command of commands) {
    for (const [depth, word] of command.words.entries()) {
      const parent = command.words.slice(0, depth).join(' ')
      const words = children.get(parent) ?? new Map<string, string>()
      const isEnd = depth === command.words.length - 1
      if (isEnd || !words.has(word)) words.set(word, isEnd ? command.summary : (words.get(word) ?? ''))
      children.set(parent, words)
    }
  }
  return children
}

function getFlagNames({ name, char }: CompletionFlag): string[] {
  return [`--${name}`, ...(char === undefined ? [] : [`-${char}`])]
}

/** Flags of all commands, grouped by the values they take. */
function groupFlags(commands: CompletionCommand[]) {
  const flags = commands.flatMap((command) => command.flags)
  const listNames = (selected: CompletionFlag[]) => [...new Set(selected.flatMap(getFlagNames))]
  const fixed = new Map<string, string>()
  for (const flag of flags)
    if (flag.options.length > 0) for (const name of getFlagNames(flag)) fixed.set(name, flag.options.join(' '))
  return {
    /** Flags with a fixed set of values. */
    fixed,
    dynamic: listNames(flags.filter(({ hasDynamicValues }) => hasDynamicValues)),
    // If one command takes a value and another does not, the next word is not treated as a value.
    valued: listNames(flags.filter(({ takesValue }) => takesValue)).filter(
      (name) => !flags.some((flag) => !flag.takesValue && getFlagNames(flag).includes(name)),
    ),
  }
}

function listDynamicPaths(commands: CompletionCommand[]): string[] {
  return commands.filter(({ hasDynamicArguments }) => hasDynamicArguments).map(({ words }) => words.join(' '))
}

function formatChoices(commands: CompletionCommand[], format: (path: string, choices: string) => string): string[] {
  return commands
    .filter(({ choices }) => choices.length > 0)
    .map(({ words, choices }) => format(words.join(' '), choices.join(' ')))
}

function renderBash(bin: string, commands: CompletionCommand[]): string {
  const words = [...buildWordTree(commands)].map(
    ([path, children]) => `    '${path}') words='${[...children.keys()].join(' ')}' ;;`,
  )
  const flags = commands.map(
    (command) => `    '${command.words.join(' ')}') flags='${command.flags.flatMap(getFlagNames).join(' ')}' ;;`,
  )
  const { fixed, dynamic: dynamicFlags, valued } = groupFlags(commands)
  const cases = [...fixed].map(
    ([flag, options]) => `    ${flag}) COMPREPLY=($(compgen -W '${options}' -- "$value")); return ;;`,
  )
  return `# bash completion for ${bin}: ks completion bash --install
_${bin}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} flag=\${COMP_WORDS[COMP_CWORD-1]} path='' word before='' words='' flags='' dynamic=''
  local value=$cur
  COMPREPLY=()
  # bash splits --flag=value into three words
  if [ "$cur" = = ]; then value=''; elif [ "$flag" = = ]; then flag=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" != = ] || continue
    case "$before" in ${valued.join('|')}) before=''; continue ;; esac
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
    before=$word
  done
  case "$flag" in
${cases.join('\n')}
    ${dynamicFlags.join('|')}) dynamic=flag ;;
    ${valued.join('|')}) return ;;
  esac
  if [ -z "$dynamic" ]; then
    while :; do
      case "$path" in
${flags.join('\n')}
      esac
      [ -n "$flags" ] || [ -z "$path" ] && break
      case "$path" in *' '*) path=\${path% *} ;; *) path='' ;; esac
    done
    case "$path" in
${words.join('\n')}
    esac
    case "$path" in
${formatChoices(commands, (path, choices) => `    '${path}') words="$words ${choices}" ;;`).join('\n')}
    esac
    case "$path" in
      ${listDynamicPaths(commands)
        .map((path) => `'${path}'`)
        .join('|')}) dynamic=argument ;;
    esac
    case "$cur" in
      -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")); return ;;
      # the typed text may contain anything: only letters are compared
      *[!a-z-]*) ;;
      *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    esac
  fi
  [ -n "$dynamic" ] || return
  # names are untrusted: each line is one name and is never evaluated. Readline's own quoting leaves backquotes
  # alone, so quote here; after an open quotation mark only names without special characters are offered.
  while IFS= read -r value; do
    case "$value" in */) compopt -o nospace 2> /dev/null ;; esac
    case "$cur" in
      [\\"\\']*) case "$value" in *[!A-Za-z0-9\\ _./:,@%+=-]*) continue ;; esac ;;
      *) printf -v value '%q' "$value" ;;
    esac
    COMPREPLY+=("$value")
  done < <(${bin} ${COMPLETE_COMMAND} bash "$cur" "\${COMP_LINE:0:COMP_POINT}" 2> /dev/null)
}
complete -o default -F _${bin} ${bin}
`
}

// zsh reserves `path` and `words`: the script uses other names.
function renderZsh(bin: string, commands: CompletionCommand[]): string {
  const verbs = [...buildWordTree(commands)].map(([trail, children]) => {
    const entries = [...children].map(([word, summary]) => `'${word}:${escapeZsh(summary)}'`)
    return `    '${trail}') verbs=(${entries.join(' ')}) ;;`
  })
  const flags = commands.map((command) => {
    const entries = command.flags.map((flag) => `'--${flag.name}:${escapeZsh(flag.description)}'`)
    return `    '${command.words.join(' ')}') flags=(${entries.join(' ')}) ;;`
  })
  const { fixed, dynamic: dynamicFlags, valued } = groupFlags(commands)
  const cases = [...fixed].map(([flag, options]) => `    ${flag}) compadd -- ${options}; return ;;`)
  return `#compdef ${bin}
# zsh completion for ${bin}: ks completion zsh --install
_${bin}() {
  local trail='' word flag='' dynamic='' before=''
  local -a verbs flags values typed
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$before" in ${valued.join('|')}) before=''; continue ;; esac
    [[ $word == -* ]] || trail="\${trail:+$trail }$word"
    before=$word
  done
  typed=("\${(@Q)words[2,CURRENT-1]}")
  flag=\${words[CURRENT-1]}
  if [[ $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    typed+=("$flag")
    compset -P '--*='
  fi
  case "$flag" in
${cases.join('\n')}
    ${dynamicFlags.join('|')}) dynamic=flag ;;
    ${valued.join('|')}) _files; return ;;
  esac
  if [[ -z $dynamic ]]; then
    while true; do
      case "$trail" in
${flags.join('\n')}
      esac
      (( \${#flags} )) && break
      [[ -z $trail ]] && break
      if [[ $trail == *' '* ]]; then trail=\${trail% *}; else trail=''; fi
    done
    if [[ $PREFIX == -* ]]; then
      _describe -o 'flag' flags
      return
    fi
    case "$trail" in
${verbs.join('\n')}
    esac
    case "$trail" in
${formatChoices(commands, (path, choices) => `    '${path}') compadd -- ${choices} ;;`).join('\n')}
    esac
    case "$trail" in
      ${listDynamicPaths(commands)
        .map((path) => `'${path}'`)
        .join('|')}) dynamic=argument ;;
    esac
  fi
  (( \${#verbs} )) && _describe 'command' verbs
  # names are untrusted: compadd quotes what it inserts
  [[ -z $dynamic ]] || values=("\${(@f)$(${bin} ${COMPLETE_COMMAND} zsh "\${(Q)PREFIX}" "\${(@)typed}" 2> /dev/null)}")
  values=(\${values:#})
  if (( \${#values} )); then
    # no space after a folder
    compadd -S '' -- "\${(@M)values:#*/}"
    compadd -- "\${(@)values:#*/}"
    return 0
  fi
  _files
}
if [ "$funcstack[1]" = "_${bin}" ]; then _${bin} "$@"; else compdef _${bin} ${bin}; fi
`
}

function escapeZsh(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(':', '\\:')
}

function renderFish(bin: string, commands: CompletionCommand[]): string {
  const { valued } = groupFlags(commands)
  const lines = [
    `# fish completion for ${bin}: ks completion fish --install`,
    ...renderFishCondition(bin, valued, listDynamicPaths(commands)),
  ]
  for (const [path, children] of buildWordTree(commands)) {
    const condition = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`
    for (const [word, summary] of children) {
      lines.push(`complete -c ${bin} -n '${condition}' -a '${word}' -d '${escapeFish(summary)}'`)
    }
  }
  lines.push(
    ...formatChoices(commands, (path, choices) => {
      return `complete -c ${bin} -n '__fish_seen_subcommand_from ${path.split(' ').at(-1)}' -a '${choices}'`
    }),
  )
  // Names are untrusted: fish quotes what it inserts.
  const values = `(${bin} ${COMPLETE_COMMAND} fish (commandline -ct) (commandline -opc)[2..-1] 2> /dev/null)`
  lines.push(`complete -c ${bin} -n '__${bin}_is_dynamic' -a '${values}'`)
  const writtenKeys = new Set<string>()
  for (const command of commands) {
    const condition = `__fish_seen_subcommand_from ${command.words.at(-1)}`
    for (const flag of command.flags) {
      const key = `${condition} ${flag.name}`
      if (writtenKeys.has(key)) continue
      writtenKeys.add(key)
      const char = flag.char === undefined ? '' : ` -s ${flag.char}`
      const options = flag.options.length > 0 ? ` -a '${flag.options.join(' ')}'` : ''
      const candidates = flag.hasDynamicValues ? ` -a '${values}'` : options
      const value = flag.takesValue ? ' -r' : ''
      lines.push(
        `complete -c ${bin} -n '${condition}' -l ${flag.name}${char}${value}${candidates} -d '${escapeFish(flag.description)}'`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}

/** A fish function that tests whether the program lists values of the current argument. */
function renderFishCondition(bin: string, valued: string[], paths: string[]): string[] {
  return [
    `function __${bin}_is_dynamic`,
    `  string match -q -- '-*' (commandline -ct); and return 1`,
    '  set -l trail',
    `  set -l before ''`,
    '  for word in (commandline -opc)[2..-1]',
    `    if contains -- "$before" ${valued.join(' ')}`,
    `      set before ''`,
    '      continue',
    '    end',
    `    string match -q -- '-*' $word; or set -a trail $word`,
    '    set before $word',
    '  end',
    '  switch "$trail "',
    `    case ${paths.map((path) => `'${path} *'`).join(' ')}`,
    '      return 0',
    '  end',
    '  return 1',
    'end',
  ]
}

function escapeFish(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
