import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { toErrorMessage } from '../../lib/error-message.js'
import { TopReader } from './reading.js'
import { applyKey, type TopKey, type TopState } from './state.js'

/** Reads a service repeatedly, and continues after an outage. */
export class TopSession {
  readonly #open: () => Promise<Client>
  readonly #reader = new TopReader()
  readonly #listeners = new Set<() => void>()
  readonly #stop = new AbortController()
  #client: Client | undefined
  #state: TopState

  /** @param open opens a client of the current service: a restarted one may listen at another address */
  constructor(open: () => Promise<Client>, settings: Pick<TopState, 'serviceName' | 'intervalMs' | 'sort' | 'filter'>) {
    this.#open = open
    this.#state = {
      ...settings,
      current: undefined,
      previous: undefined,
      outage: undefined,
      isPaused: false,
      isHelp: false,
      selected: settings.filter,
    }
  }

  readonly getState = (): TopState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  press(key: TopKey): void {
    this.#set(applyKey(this.#state, key))
  }

  stop(): void {
    this.#stop.abort()
  }

  /** Takes one reading. @throws ApiError, ConnectionError */
  async read(): Promise<void> {
    this.#client ??= await this.#open()
    const current = await this.#reader.read(this.#client)
    this.#set({ ...this.#state, previous: this.#state.current, current, outage: undefined })
  }

  /** Reads until stopped. Shows errors and retries with a new connection. */
  async run(onReading: () => void = () => undefined): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (!this.#state.isPaused) {
        try {
          await this.read()
          onReading()
        } catch (error) {
          this.#reportFailure(error)
        }
      }
      await sleep(this.#state.intervalMs, undefined, { signal: this.#stop.signal }).catch(() => undefined)
    }
  }

  close(): void {
    this.#client?.close()
    this.#client = undefined
  }

  #reportFailure(error: unknown): void {
    this.close()
    const message = toErrorMessage(error)
    this.#set({ ...this.#state, outage: { since: this.#state.outage?.since ?? Date.now(), message } })
  }

  #set(state: TopState): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}
