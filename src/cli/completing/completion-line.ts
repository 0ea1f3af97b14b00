/** The command line at which Tab was pressed, as the shell reports it. */
export interface CompletionLine {
  /** Complete words before the typed one, without the program's name. */
  words: readonly string[]
  /** The typed word up to the cursor. */
  typed: string
  /** Index in `typed` of the part that the shell replaces with a candidate. */
  replaceStart: number
}

/**
 * Parses the arguments of the completion scripts. Bash sends the line and its own word, since it splits words at `:`
 * and `=`; zsh and fish send the words.
 */
export function parseCompletionLine([shell, ...rest]: readonly string[]): CompletionLine {
  if (shell === 'bash') {
    const [bashWord = '', line = ''] = rest
    const words = splitOpenLine(line)
    const typed = words.pop() ?? ''
    const [replaced = ''] = splitOpenLine(bashWord === '=' || bashWord === ':' ? '' : bashWord)
    return { words: words.slice(1), typed, replaceStart: typed.endsWith(replaced) ? typed.length - replaced.length : 0 }
  }
  const [typed = '', ...words] = rest
  // Fish sends the word with its quotes.
  return { words, typed: shell === 'fish' ? (splitOpenLine(typed).at(-1) ?? '') : typed, replaceStart: 0 }
}

/** Splits a line whose last quotation mark may be open; the last word is the typed one, often empty. */
export function splitOpenLine(line: string): string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let index = 0; index < line.length; index++) {
    const char = line[index] ?? ''
    if (quote === '' && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
    } else if (char === quote) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
    else if (char === '\\' && quote !== "'") word += line[++index] ?? ''
    else word += char
  }
  return [...words, word]
}

/** The value of the last of these flags among the words. */
export function findFlagValue(words: readonly string[], names: readonly string[]): string | undefined {
  for (let index = words.length - 1; index >= 0; index--) {
    const word = words[index] ?? ''
    const [name = '', ...value] = word.split('=')
    if (names.includes(word)) return words[index + 1]
    if (names.includes(name)) return value.join('=')
  }
  return undefined
}

/**
 * Formats matching candidates as lines; omits names with control characters, so that no name is read as two.
 *
 * @param prefix typed text before the candidates, such as `--space=`
 */
export function formatCandidates(
  candidates: Iterable<string>,
  { typed, replaceStart }: CompletionLine,
  prefix = '',
): string {
  const matching = [...new Set(candidates)]
    .map((candidate) => prefix + candidate)
    .filter((candidate) => candidate.startsWith(typed) && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(candidate))
  return matching.map((candidate) => `${candidate.slice(replaceStart)}\n`).join('')
}
