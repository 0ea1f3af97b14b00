import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { TopReader } from './reading.js'
import { type Key, pressed, type TopState } from './state.js'

/** Reads a service repeatedly, and continues after an outage. */
export class TopSession {
  readonly #open: () => Promise<Client>
  readonly #reader = new TopReader()
  readonly #listeners = new Set<() => void>()
  readonly #left = new AbortController()
  #client: Client | undefined
  #state: TopState

  /** @param open opens a client of the current service: a restarted one may listen at another address */
  constructor(open: () => Promise<Client>, start: Pick<TopState, 'where' | 'intervalMs' | 'sort' | 'filter'>) {
    this.#open = open
    this.#state = {
      ...start,
      now: undefined,
      before: undefined,
      trouble: undefined,
      isPaused: false,
      isHelp: false,
      selected: start.filter,
    }
  }

  readonly state = (): TopState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  press(key: Key): void {
    this.#set(pressed(this.#state, key))
  }

  leave(): void {
    this.#left.abort()
  }

  /** Takes one reading. @throws ApiError, ConnectionError */
  async read(): Promise<void> {
    this.#client ??= await this.#open()
    const now = await this.#reader.read(this.#client)
    this.#set({ ...this.#state, before: this.#state.now, now, trouble: undefined })
  }

  /** Reads until stopped. Shows errors and retries with a new connection. */
  async run(onReading: () => void = () => undefined): Promise<void> {
    while (!this.#left.signal.aborted) {
      if (!this.#state.isPaused) {
        try {
          await this.read()
          onReading()
        } catch (error) {
          this.#trouble(error)
        }
      }
      await sleep(this.#state.intervalMs, undefined, { signal: this.#left.signal }).catch(() => undefined)
    }
  }

  close(): void {
    this.#client?.close()
    this.#client = undefined
  }

  #trouble(error: unknown): void {
    this.close()
    const message = error instanceof Error ? error.message : String(error)
    this.#set({ ...this.#state, trouble: { since: this.#state.trouble?.since ?? Date.now(), message } })
  }

  #set(state: TopState): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}
