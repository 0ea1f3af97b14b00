import { readTextOrStdin } from './stdin.js'

/** The arguments of a command line that belong to no flag, in the order in which they were typed. */
export function getTypedWords(raw: readonly { type: 'arg' | 'flag'; input: string }[]): string[] {
  // oclif's own list is sorted by the first occurrence of each word, which moves repeated words.
  return raw.flatMap(({ type, input }) => (type === 'arg' ? [input] : []))
}

/** Joins all words to one text, which needs no quotes; reads stdin, described by the label, if the only word is `-`. */
export async function readArgumentText(
  raw: readonly { type: 'arg' | 'flag'; input: string }[],
  label: string,
): Promise<string> {
  return (await readTextOrStdin(getTypedWords(raw).join(' '), label)).trim()
}
