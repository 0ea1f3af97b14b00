/** What a shell says of the line in which Tab was pressed. */
export interface Asked {
  /** whole words before the one that is typed, without the program's name */
  words: readonly string[]
  /** the word that is typed, as far as the cursor */
  typed: string
  /** so much of it stands before the part that the shell puts a candidate in place of */
  passed: number
}

/**
 * Reads what the completion scripts send: bash gives the line and what it takes for the word, since it parts words at `:`
 * and `=`; zsh and fish give the words.
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
  // fish gives the word as it is typed
  return { words, typed: shell === 'fish' ? (openWords(typed).at(-1) ?? '') : typed, passed: 0 }
}

/** Words of a line whose last quotation mark may be open; the last word is the one that is typed, often empty. */
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

/** The value of the last flag of such a name among the words. */
export function flagValue(words: readonly string[], names: readonly string[]): string | undefined {
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at] ?? ''
    const [name = '', ...value] = word.split('=')
    if (names.includes(word)) return words[at + 1]
    if (names.includes(name)) return value.join('=')
  }
  return undefined
}

/** Lines for the shell: what cannot stand in one is left out, so that no name is taken for two. */
export function candidateLines(candidates: Iterable<string>, { typed, passed }: Asked, head = ''): string {
  const fitting = [...new Set(candidates)]
    .map((candidate) => head + candidate)
    .filter((candidate) => candidate.startsWith(typed) && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(candidate))
  return fitting.map((candidate) => `${candidate.slice(passed)}\n`).join('')
}
