import { textOrStdin } from './stdin.js'

/** The words of a command line that belong to no flag, in the order in which they were typed. */
export function typedWords(raw: readonly { type: 'arg' | 'flag'; input: string }[]): string[] {
  // oclif's own list is sorted by where each word first stands in the command line, which moves repeated words
  return raw.flatMap(({ type, input }) => (type === 'arg' ? [input] : []))
}

/** A text that needs no quotes: all words together, or stdin where the only one is `-`. */
export async function textOfWords(
  raw: readonly { type: 'arg' | 'flag'; input: string }[],
  what: string,
): Promise<string> {
  return (await textOrStdin(typedWords(raw).join(' '), what)).trim()
}
