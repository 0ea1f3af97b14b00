import { parentPort, Worker } from 'node:worker_threads'
import { EgressFailure } from '../egress/failure.js'

/** Calls of a thread. Arguments and results are copied. */
export type Calls<C> = { [Name in keyof C]: (...args: never[]) => unknown }

interface Asked {
  id: number
  name: string
  args: unknown[]
}

type Answered = { id: number } & ({ value: unknown } | { failure: string })

export interface Thread<C extends Calls<C>> {
  /** @throws EgressFailure when a call exceeds the limits of the thread; every later call fails too */
  ask<Name extends keyof C & string>(name: Name, ...args: Parameters<C[Name]>): Promise<ReturnType<C[Name]>>
  close(): Promise<void>
}

export interface ThreadBounds {
  /** of one call */
  longestMs: number
  heapMegabytes: number
}

const TOO_MUCH = 'a response that takes too long to read'

/** Starts a thread that parses responses of other servers, so that no content blocks the event loop. */
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
  // a full heap also ends with an error
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
          else resolve(answer.value as ReturnType<C[typeof name]>) // the call of this name returned it
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

/** The other side: runs calls, one after the other. */
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

/** Copies bytes into their own memory: a view would be sent with its complete buffer. */
export function ownBytes(bytes: Uint8Array, most = bytes.byteLength): Uint8Array {
  return new Uint8Array(bytes.subarray(0, most))
}
