import type { Key } from 'ink'
import { EXIT } from '../../contract/errors.js'
import { type CommandOutcome, runCommand } from './commands.js'
import type { Conversation } from './conversation.js'
import {
  type Draft,
  deleteNext,
  EMPTY_DRAFT,
  type MessageRecall,
  moveLine,
  moveRecall,
  startRecall,
  toDraft,
} from './editor.js'
import { type KeyAction, KeyReader } from './keys.js'
import { completeLine } from './line-completion.js'
import { FRAME_MS, throttle } from './throttle.js'

export interface InputState {
  readonly draft: Draft
  readonly recall: MessageRecall
  /** exit code of the next Ctrl-C, if one preceded at an empty line or to stop an answer; any other key clears it */
  readonly interruptExitCode: number | undefined
  /** the search in sent messages, while it is active */
  readonly search: MessageSearch | undefined
  /** candidates of Tab */
  readonly candidates: readonly string[]
}

interface MessageSearch {
  readonly query: Draft
  /** the draft before the search */
  readonly previousDraft: Draft
  /** count of newer matches that were skipped */
  readonly skipped: number
}

/** Callbacks that leave the input line. */
export interface InputCallbacks {
  leave(exitCode: number): void
  /** edits a text with `$EDITOR` */
  openEditor(text: string): void
}

/** Handles the keys of the input line. */
export class InputController {
  readonly #conversation: Conversation
  readonly #callbacks: InputCallbacks
  readonly #keyboard = new KeyReader()
  readonly #listeners = new Set<() => void>()
  readonly #notify = throttle(() => {
    for (const listener of this.#listeners) listener()
  }, FRAME_MS)
  #state: InputState
  #commands: Promise<unknown> = Promise.resolve()

  constructor(conversation: Conversation, callbacks: InputCallbacks) {
    this.#conversation = conversation
    this.#callbacks = callbacks
    const sent = startRecall(conversation.getState().sent)
    this.#state = { draft: EMPTY_DRAFT, recall: sent, interruptExitCode: undefined, search: undefined, candidates: [] }
  }

  readonly getState = (): InputState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Handles keys: ink passes several at once if they arrive before the next frame. */
  readonly handleKeys = (input: string, key: Key): void => {
    for (const typed of this.#keyboard.read(input, key)) {
      const isInterrupt = 'action' in typed && typed.action === 'interrupt'
      if (this.#state.interruptExitCode !== undefined && !isInterrupt) this.#set({ interruptExitCode: undefined })
      const isTab = 'action' in typed && typed.action === 'complete'
      if (this.#state.candidates.length > 0 && !isTab) this.#set({ candidates: [] })
      if ('action' in typed) this.#handleAction(typed.action)
      else this.#applyEdit(typed.edit)
    }
  }

  /** Replaces the text of the line, such as by one from an editor. */
  setText(text: string): void {
    this.#set({ draft: toDraft(text), search: undefined })
  }

  #set(change: Partial<InputState>): void {
    this.#state = { ...this.#state, ...change }
    this.#notify()
  }

  #applyEdit(edit: (draft: Draft) => Draft) {
    const { search, draft } = this.#state
    if (search === undefined) return this.#set({ draft: edit(draft) })
    this.#search({ ...search, query: edit(search.query), skipped: 0 })
  }

  #handleAction(action: KeyAction) {
    const { draft, search } = this.#state
    if (search !== undefined && this.#handleSearchKey(action, search)) return
    switch (action) {
      case 'submit':
        return this.#submit()
      case 'interrupt':
        return this.#interrupt()
      case 'end-of-input':
        return draft.text === '' ? this.#callbacks.leave(EXIT.ok) : this.#applyEdit(deleteNext)
      case 'new':
        return this.#conversation.getState().phase === 'idle' ? this.#run('/new') : undefined
      case 'list':
        return this.#run('/open')
      case 'redraw':
        return this.#set({})
      case 'search':
        return this.#search({ query: EMPTY_DRAFT, previousDraft: draft, skipped: 0 })
      case 'complete':
        return this.#complete()
      case 'edit':
        return this.#callbacks.openEditor(draft.text)
      case 'cancel':
        return undefined
      case 'previous':
      case 'next': {
        const direction = action === 'previous' ? -1 : 1
        const line = moveLine(draft, direction)
        if (line !== undefined) return this.#set({ draft: line })
        const step = moveRecall(this.#state.recall, direction, draft.text)
        return step === undefined ? undefined : this.#set({ recall: step.recall, draft: toDraft(step.text) })
      }
      default:
        return action satisfies never
    }
  }

  /** Handles a key during a search. @returns whether it has no further effect */
  #handleSearchKey(action: KeyAction, search: MessageSearch): boolean {
    if (action === 'search') this.#search({ ...search, skipped: search.skipped + 1 })
    else if (action === 'cancel' || action === 'interrupt')
      this.#set({ draft: search.previousDraft, search: undefined })
    else {
      // The match stays in the line, to be edited or sent.
      this.#set({ search: undefined })
      return action === 'submit' || action === 'complete'
    }
    return true
  }

  /** Shows the newest message that contains the search text, after the skipped ones; otherwise the last match. */
  #search(search: MessageSearch): void {
    const query = search.query.text.toLowerCase()
    const sent = new Set(this.#conversation.getState().sent.toReversed())
    const matches = [...sent].filter((text) => query !== '' && text.toLowerCase().includes(query))
    const match = matches[Math.min(search.skipped, matches.length - 1)]
    const skipped = Math.min(search.skipped, Math.max(0, matches.length - 1))
    this.#set({ search: { ...search, skipped }, draft: match === undefined ? search.previousDraft : toDraft(match) })
  }

  #complete(): void {
    const { draft } = this.#state
    const head = draft.text.slice(0, draft.cursor)
    const completion = completeLine(head, this.#conversation.getState().suggestions)
    if (completion === undefined) return
    const rest = draft.text.slice(draft.cursor)
    this.#set({
      draft: { text: completion.text + rest, cursor: completion.text.length },
      candidates: completion.candidates,
    })
  }

  #submit() {
    const text = this.#state.draft.text.trim()
    if (this.#conversation.getState().confirm !== undefined) return this.#confirm(text)
    if (text === '') return
    this.#set({ draft: EMPTY_DRAFT, recall: startRecall([...this.#conversation.getState().sent, text]) })
    this.#run(text)
  }

  /** Runs or cancels the action that awaits confirmation. */
  #confirm(text: string) {
    const { confirm } = this.#conversation.getState()
    this.#set({ draft: EMPTY_DRAFT })
    this.#conversation.update({ confirm: undefined })
    if (!/^y(es)?$/i.test(text)) return this.#conversation.note('Cancelled.')
    confirm?.run().catch((error: unknown) => this.#conversation.showError(error))
  }

  /** Runs commands one after another, and sends a message after the commands before it. */
  #run(text: string): void {
    const conversation = this.#conversation
    const isCommand = text.startsWith('/') && !text.startsWith('//')
    const work = this.#commands.then(() => (isCommand ? runCommand(text, conversation) : undefined))
    this.#commands = work.then(ignore, ignore)
    const done = work.then((outcome) => {
      this.#applyOutcome(outcome)
      return isCommand ? undefined : conversation.send(text.startsWith('//') ? text.slice(1) : text)
    })
    done.catch((error: unknown) => conversation.showError(error))
  }

  #applyOutcome(outcome: CommandOutcome): void {
    if (outcome === undefined) return
    if ('leave' in outcome) this.#callbacks.leave(EXIT.ok)
    else if ('draft' in outcome) this.setText(outcome.draft)
    else this.#callbacks.openEditor(outcome.edit)
  }

  /**
   * Ctrl-C: stops an answer and returns its queued messages to the line; a second one exits. Also stops reading aloud,
   * and clears the line. At an empty line, two of them exit.
   */
  #interrupt(): void {
    const { draft, interruptExitCode } = this.#state
    const conversation = this.#conversation
    const { phase, isSpeaking, confirm } = conversation.getState()
    if (confirm !== undefined) this.#confirm('')
    else if (phase === 'answering') {
      const cleared = conversation.clearQueue()
      if (cleared.length > 0) this.setText([...cleared, draft.text].filter((text) => text !== '').join('\n'))
      // The answer may end before the second Ctrl-C. Returned messages are cleared first.
      else if (draft.text === '') this.#set({ interruptExitCode: EXIT.interrupted })
      conversation.stop()
    } else if (phase === 'stopping') this.#callbacks.leave(EXIT.interrupted)
    else if (isSpeaking) conversation.stopSpeech()
    else if (interruptExitCode !== undefined) this.#callbacks.leave(interruptExitCode)
    else if (draft.text !== '') this.#set({ draft: EMPTY_DRAFT })
    else this.#set({ interruptExitCode: EXIT.ok })
  }
}

function ignore(): void {}
