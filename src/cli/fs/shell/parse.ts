import { hasWildcards } from '../wildcards.js'

/** A word of a script. */
export interface ShellWord {
  text: string
  /** The word as a pattern, with quoted wildcards escaped; absent without an unquoted wildcard. */
  pattern?: string
}

export interface ShellCommand {
  words: ShellWord[]
  /** Whether `2>/dev/null` drops its messages. */
  isSilent: boolean
}

export interface ShellPipeline {
  /** When it runs: always, or after success or failure of the one before. */
  condition: ';' | '&&' | '||'
  commands: ShellCommand[]
}

/** A script, command or argument that is not supported; `status` as in a shell. */
export class ShellError extends Error {
  readonly status: number

  constructor(message: string, status = 2) {
    super(message)
    this.name = 'ShellError'
    this.status = status
  }
}

type Token = { operator: string } | ShellWord

const MAX_SCRIPT_LENGTH = 64 * 1024
const SPACE = /^(?:[ \t\r]+|\\\n|#[^\n]*)/
const OPERATOR = /^(?:&&|\|\||[|;\n])/
const SILENCED = /^2>[ \t]*\/dev\/null(?=[\s|;&]|$)/
const REDIRECTION = /^(?:\d*[<>]|&>)/
const SUBSTITUTION = /^(?:`|\$[\w({'"@*#?!$-])/

/**
 * Parses a script: commands with quoted words, joined by `|`, `;`, `&&`, `||` or line breaks.
 *
 * @throws ShellError for everything else of a shell, such as redirections, variables and substitutions
 */
export function parseScript(script: string): ShellPipeline[] {
  if (script.length > MAX_SCRIPT_LENGTH)
    throw new ShellError(`the script has ${script.length} characters; the maximum is ${MAX_SCRIPT_LENGTH}`)
  const pipelines: ShellPipeline[] = []
  let condition: ShellPipeline['condition'] = ';'
  let commands: ShellCommand[] = []
  let command: ShellCommand = { words: [], isSilent: false }
  let operator = ''
  const endCommand = () => {
    if (command.words.length === 0)
      throw new ShellError(`a command is missing after ${JSON.stringify(operator.trim() || '|')}`)
    commands.push(command)
    command = { words: [], isSilent: false }
  }
  const endPipeline = () => {
    endCommand()
    pipelines.push({ condition, commands })
    commands = []
  }
  for (const token of tokenize(script)) {
    if (!('operator' in token)) {
      command.words.push(token)
      continue
    }
    const isEmpty = command.words.length === 0 && commands.length === 0
    if (token.operator === '2>') command.isSilent = true
    else if (token.operator === '|') endCommand()
    else if (token.operator === '\n' && command.words.length === 0) continue
    else {
      if (isEmpty) throw new ShellError(`a command is missing before ${JSON.stringify(token.operator)}`)
      endPipeline()
      condition = token.operator === '&&' || token.operator === '||' ? token.operator : ';'
    }
    operator = token.operator
  }
  const isOpen = condition !== ';' || commands.length > 0
  if (command.words.length > 0 || isOpen) endPipeline()
  if (pipelines.length === 0) throw new ShellError('the script has no command')
  return pipelines
}

function* tokenize(script: string): Generator<Token> {
  for (let rest = script; rest !== ''; ) {
    const space = SPACE.exec(rest)
    const operator = OPERATOR.exec(rest)
    const silenced = SILENCED.exec(rest)
    if (space !== null) rest = rest.slice(space[0].length)
    else if (operator !== null) {
      yield { operator: operator[0] }
      rest = rest.slice(operator[0].length)
    } else if (silenced !== null) {
      yield { operator: '2>' }
      rest = rest.slice(silenced[0].length)
    } else {
      const { word, length } = readWord(rest)
      yield word
      rest = rest.slice(length)
    }
  }
}

function readWord(input: string): { word: ShellWord; length: number } {
  let text = ''
  let pattern = ''
  let isPattern = false
  let index = 0
  const addQuoted = (part: string) => {
    text += part
    pattern += part.replace(/[\\*?[\]{}]/g, '\\$&')
  }
  while (index < input.length && !/^(?:\s|[|;]|&&)/.test(input.slice(index, index + 2))) {
    const rest = input.slice(index)
    const [character = ''] = rest
    if (character === "'" || character === '"') {
      const quoted = readQuoted(rest)
      addQuoted(quoted.text)
      index += quoted.length
    } else if (character === '\\') {
      addQuoted(rest[1] ?? '')
      index += 2
    } else {
      rejectSyntax(rest)
      text += character
      pattern += character
      isPattern ||= hasWildcards(character)
      index += 1
    }
  }
  return { word: isPattern ? { text, pattern } : { text }, length: index }
}

function readQuoted(rest: string): { text: string; length: number } {
  const [quote = ''] = rest
  let text = ''
  for (let index = 1; index < rest.length; index++) {
    const character = rest[index] ?? ''
    if (character === quote) return { text, length: index + 1 }
    if (quote === '"') {
      if (SUBSTITUTION.test(rest.slice(index)) && !/^\$["]/.test(rest.slice(index))) rejectSyntax(rest.slice(index))
      if (character === '\\' && /["\\$`]/.test(rest[index + 1] ?? '')) {
        index += 1
        text += rest[index] ?? ''
        continue
      }
    }
    text += character
  }
  throw new ShellError(`the quote ${quote} is not closed`)
}

function rejectSyntax(rest: string): void {
  if (REDIRECTION.test(rest)) throw new ShellError('redirections are not available; only `2>/dev/null` is')
  if (SUBSTITUTION.test(rest)) throw new ShellError("variables and substitutions are not available; quote $ as '$'")
  if (/^[&()]/.test(rest)) throw new ShellError(`${JSON.stringify(rest[0])} is not available outside of quotes`)
}
