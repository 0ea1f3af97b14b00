/** The command line at which Tab was pressed, as the shell reports it. */
export interface Asked {
  /** Complete words before the typed one, without the program's name. */
  words: readonly string[]
  /** The typed word up to the cursor. */
  typed: string
  /** Index in `typed` of the part that the shell replaces with a candidate. */
  passed: number
}

/**
 * Parses the arguments of the completion scripts. Bash sends the line and its own word, since it splits words at `:`
 * and `=`; zsh and fish send the words.
 */
export function askedOf([shell, ...rest]: readonly string[]): Asked {
  if (shell === 'bash') {
    const [part = '', line = ''] = rest
    const words = openWords(line)
    const typed = words.pop() ?? ''
    const [shown = ''] = openWords(part === '=' || part === ':' ? '' : part)
    return { words: words.slice(1), typed, passed: typed.endsWith(shown) ? typed.length - shown.length : 0 }
  }
  const [typed = '', ...words] = rest
  // Fish sends the word with its quotes.
  return { words, typed: shell === 'fish' ? (openWords(typed).at(-1) ?? '') : typed, passed: 0 }
}

/** Splits a line whose last quotation mark may be open; the last word is the typed one, often empty. */
export function openWords(line: string): string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const mark = line[at] ?? ''
    if (quote === '' && /\s/.test(mark)) {
      if (word !== '') words.push(word)
      word = ''
    } else if (mark === quote) quote = ''
    else if (quote === '' && (mark === '"' || mark === "'")) quote = mark
    else if (mark === '\\' && quote !== "'") word += line[++at] ?? ''
    else word += mark
  }
  return [...words, word]
}

/** The value of the last of these flags among the words. */
export function flagValue(words: readonly string[], names: readonly string[]): string | undefined {
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at] ?? ''
    const [name = '', ...value] = word.split('=')
    if (names.includes(word)) return words[at + 1]
    if (names.includes(name)) return value.join('=')
  }
  return undefined
}

/** Formats matching candidates as lines; omits names with control characters, so that no name is read as two. */
export function candidateLines(candidates: Iterable<string>, { typed, passed }: Asked, head = ''): string {
  const fitting = [...new Set(candidates)]
    .map((candidate) => head + candidate)
    .filter((candidate) => candidate.startsWith(typed) && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(candidate))
  return fitting.map((candidate) => `${candidate.slice(passed)}\n`).join('')
}
