import { parentPort, Worker } from 'node:worker_threads'
import { EgressFailure } from '../egress/failure.js'

/** What a thread can be asked. What goes in and out is copied. */
export type Calls<C> = { [Name in keyof C]: (...args: never[]) => unknown }

interface Asked {
  id: number
  name: string
  args: unknown[]
}

type Answered = { id: number } & ({ value: unknown } | { failure: string })

export interface Thread<C extends Calls<C>> {
  /**
   * @throws EgressFailure when what the thread was given cannot be worked through within its bounds; every call after
   *   that one fails too
   */
  ask<Name extends keyof C & string>(name: Name, ...args: Parameters<C[Name]>): Promise<ReturnType<C[Name]>>
  close(): Promise<void>
}

export interface ThreadBounds {
  /** of one call */
  longestMs: number
  heapMegabytes: number
}

const TOO_MUCH = 'an answer that takes too long to read'

/** Starts a thread that reads what other servers answered: whatever it is, the event loop is not held by it. */
export function openThread<C extends Calls<C>>(entry: URL, { longestMs, heapMegabytes }: ThreadBounds): Thread<C> {
  const worker = new Worker(entry, {
    name: 'source-reading',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
  })
  const open = new Map<number, { settle(answer: Answered | Error): void; timer: NodeJS.Timeout }>()
  let calls = 0
  let over: Error | undefined
  const end = (error: Error) => {
    over ??= error
    for (const { settle } of [...open.values()]) settle(over)
  }
  // a full heap ends in an error too
  worker.on('error', () => end(new EgressFailure(TOO_MUCH)))
  worker.on('exit', () => end(new EgressFailure(TOO_MUCH)))
  worker.on('message', (answer: Answered) => open.get(answer.id)?.settle(answer))
  return {
    ask: (name, ...args) =>
      new Promise((resolve, reject) => {
        if (over !== undefined) return reject(over)
        const id = calls++
        const timer = setTimeout(() => {
          end(new EgressFailure(TOO_MUCH))
          void worker.terminate()
        }, longestMs)
        const settle = (answer: Answered | Error) => {
          clearTimeout(timer)
          open.delete(id)
          if (answer instanceof Error) reject(answer)
          else if ('failure' in answer) reject(new EgressFailure(answer.failure))
          else resolve(answer.value as ReturnType<C[typeof name]>) // the call of this name made it
        }
        open.set(id, { settle, timer })
        const asked: Asked = { id, name, args }
        worker.postMessage(asked)
      }),
    async close() {
      await worker.terminate()
    },
  }
}

/** The other side: answers calls, one after the other. */
export function serveCalls<C extends Calls<C>>(calls: C): void {
  const table = new Map<string, (...args: never[]) => unknown>(Object.entries(calls))
  parentPort?.on('message', ({ id, name, args }: Asked) => {
    const answer = (answered: Answered) => parentPort?.postMessage(answered)
    try {
      const value = table.get(name)?.(...(args as never[])) // `ask` typed them
      answer({ id, value })
    } catch (error) {
      if (!(error instanceof EgressFailure)) throw error
      answer({ id, failure: error.message })
    }
  })
}

/** Bytes in memory of their own: a view would be copied with all that it is a view of. */
export function ownBytes(bytes: Uint8Array, most = bytes.byteLength): Uint8Array {
  return new Uint8Array(bytes.subarray(0, most))
}
