import { Thinking } from '../lib/text/thinking.js'

/** Prints an answer while it comes, without what the model thinks aloud, unless that is wanted too. */
export class AnswerPrinter {
  readonly #print: (text: string) => void
  readonly #withThoughts: boolean
  #thinking = new Thinking()
  /** all that was printed of the answer */
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

  /** The answer so far is taken back; what is printed cannot be: the other one follows. */
  replace(whole: string): void {
    if (this.#shown !== '') this.#print('\n')
    this.#shown = ''
    this.#thinking = new Thinking()
    this.add(whole)
  }

  /** Nothing more comes: what was held back is said, and the last line ends. */
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

/** `thought first: 12 words, --thoughts shows them`; undefined where nothing was thought aloud. */
export function foldedThought(thought: string): string | undefined {
  const words = thought.match(/\S+/g)?.length ?? 0
  return words === 0 ? undefined : `thought first: ${words} word${words === 1 ? '' : 's'}, --thoughts shows them`
}
