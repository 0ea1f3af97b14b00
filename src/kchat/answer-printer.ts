import { pluralize } from '../lib/text/pluralize.js'
import { ThoughtSeparator } from '../lib/text/thinking.js'

/** Prints an answer while it streams; thoughts of the model only if `showsThoughts` is true. */
export class AnswerPrinter {
  readonly #print: (text: string) => void
  readonly #showsThoughts: boolean
  #separator = new ThoughtSeparator()
  /** the printed text of the answer */
  #printed = ''

  constructor(print: (text: string) => void, { showsThoughts }: { showsThoughts: boolean }) {
    this.#print = print
    this.#showsThoughts = showsThoughts
  }

  get printed(): string {
    return this.#printed
  }

  get thought(): string {
    return this.#separator.thought
  }

  add(text: string): void {
    const output = this.#separator.add(text)
    this.#write(this.#showsThoughts ? text : output)
  }

  /** Replaces the answer so far. Printed text cannot be removed, so the new answer follows it. */
  replace(answer: string): void {
    if (this.#printed !== '') this.#print('\n')
    this.#printed = ''
    this.#separator = new ThoughtSeparator()
    this.add(answer)
  }

  /** Ends the answer: prints withheld text and a final line break. */
  end(): void {
    const rest = this.#separator.end()
    if (!this.#showsThoughts) this.#write(rest)
    if (!this.#printed.endsWith('\n')) this.#print('\n')
  }

  #write(text: string): void {
    if (text === '') return
    this.#printed += text
    this.#print(text)
  }
}

/** Formats `thought first: 12 words, --thoughts shows them`; undefined without thoughts. */
export function summarizeThought(thought: string): string | undefined {
  const words = thought.match(/\S+/g)?.length ?? 0
  return words === 0 ? undefined : `thought first: ${pluralize(words, 'word')}, --thoughts shows them`
}
