import { ShellError } from './parse.js'

/** Options of a command: letters of flags, letters of options with a value, and long names for letters. */
export interface OptionSyntax {
  flags: string
  values?: string
  long?: Readonly<Record<string, string>>
}

export interface ParsedOptions {
  has(letter: string): boolean
  value(letter: string): string | undefined
  values(letter: string): string[]
  rest: string[]
}

/** Parses options as `getopt` does, also after other arguments. @throws ShellError for an unknown option */
export function parseOptions(command: string, args: readonly string[], syntax: OptionSyntax): ParsedOptions {
  const found: [letter: string, value: string][] = []
  const rest: string[] = []
  const words = [...args]
  const takeValue = (option: string): string => {
    const value = words.shift()
    if (value === undefined) throw new ShellError(`${command}: ${option} needs a value`)
    return value
  }
  const unknownError = (option: string) => {
    const long = Object.keys(syntax.long ?? {}).map((name) => `--${name}`)
    const known = [...`${syntax.flags}${syntax.values ?? ''}`].map((letter) => `-${letter}`)
    return new ShellError(`${command}: unknown option ${option}; known are ${[...known, ...long].join(' ')}`)
  }
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') rest.push(...words.splice(0))
    else if (word.startsWith('--')) {
      const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
      const letter = Object.hasOwn(syntax.long ?? {}, name) ? syntax.long?.[name] : undefined
      if (letter === undefined) throw unknownError(`--${name}`)
      found.push([letter, isValue(syntax, letter) ? (value ?? takeValue(`--${name}`)) : ''])
    } else if (word.startsWith('-') && word !== '-') {
      for (let letters = word.slice(1); letters !== ''; ) {
        const [letter = ''] = letters
        letters = letters.slice(1)
        if (isValue(syntax, letter)) {
          found.push([letter, letters === '' ? takeValue(`-${letter}`) : letters])
          letters = ''
        } else if (syntax.flags.includes(letter)) found.push([letter, ''])
        else throw unknownError(`-${letter}`)
      }
    } else rest.push(word)
  }
  const values = (letter: string) => found.filter(([name]) => name === letter).map(([, value]) => value)
  return { has: (letter) => values(letter).length > 0, value: (letter) => values(letter).at(-1), values, rest }
}

function isValue(syntax: OptionSyntax, letter: string): boolean {
  return syntax.values?.includes(letter) === true
}

/** @throws ShellError unless the text is an integer of at least `min` */
export function parseCount(command: string, text: string, min = 0): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (count >= min) return count
  throw new ShellError(`${command}: ${JSON.stringify(text)} is not a number of at least ${min}`)
}
