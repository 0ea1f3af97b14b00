import { Thinking } from '../lib/text/thinking.js'

/** Prints an answer while it streams; thoughts of the model only on request. */
export class AnswerPrinter {
  readonly #print: (text: string) => void
  readonly #withThoughts: boolean
  #thinking = new Thinking()
  /** the printed text of the answer */
  #shown = ''

  constructor(print: (text: string) => void, withThoughts: boolean) {
    this.#print = print
    this.#withThoughts = withThoughts
  }

  get shown(): string {
    return this.#shown
  }

  get thought(): string {
    return this.#thinking.thought
  }

  add(text: string): void {
    const said = this.#thinking.add(text)
    this.#say(this.#withThoughts ? text : said)
  }

  /** Replaces the answer so far. Printed text cannot be removed, so the new answer follows it. */
  replace(whole: string): void {
    if (this.#shown !== '') this.#print('\n')
    this.#shown = ''
    this.#thinking = new Thinking()
    this.add(whole)
  }

  /** Ends the answer: prints withheld text and a final line break. */
  end(): void {
    const rest = this.#thinking.end()
    if (!this.#withThoughts) this.#say(rest)
    if (!this.#shown.endsWith('\n')) this.#print('\n')
  }

  #say(text: string): void {
    if (text === '') return
    this.#shown += text
    this.#print(text)
  }
}

/** `thought first: 12 words, --thoughts shows them`; undefined without thoughts. */
export function foldedThought(thought: string): string | undefined {
  const words = thought.match(/\S+/g)?.length ?? 0
  return words === 0 ? undefined : `thought first: ${words} word${words === 1 ? '' : 's'}, --thoughts shows them`
}
