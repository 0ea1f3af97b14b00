import { parentPort, Worker } from 'node:worker_threads'
import { EgressFailure } from '../../models/index.js'

/** Calls of a thread. Arguments and results are copied. */
export type ThreadCalls<C> = { [Name in keyof C]: (...args: never[]) => unknown }

interface ReadingRequest {
  id: number
  name: string
  args: unknown[]
}

type ReadingReply = { id: number } & ({ value: unknown } | { failure: string })

export interface ReadingThread<C extends ThreadCalls<C>> {
  /** @throws EgressFailure when a call exceeds the limits of the thread; every later call fails too */
  call<Name extends keyof C & string>(name: Name, ...args: Parameters<C[Name]>): Promise<ReturnType<C[Name]>>
  close(): Promise<void>
}

export interface ThreadLimits {
  /** of one call */
  maxCallMs: number
  heapMegabytes: number
}

const TOO_LONG_MESSAGE = 'a response that takes too long to read'

/** Starts a thread that parses responses of other servers, so that no content blocks the event loop. */
export function openThread<C extends ThreadCalls<C>>(
  entry: URL,
  { maxCallMs, heapMegabytes }: ThreadLimits,
): ReadingThread<C> {
  const worker = new Worker(entry, {
    name: 'source-reading',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
  })
  const open = new Map<number, { settle(answer: ReadingReply | Error): void; timer: NodeJS.Timeout }>()
  let calls = 0
  let failure: Error | undefined
  const failAll = (error: Error) => {
    failure ??= error
    for (const { settle } of [...open.values()]) settle(failure)
  }
  // a full heap also ends with an error
  worker.on('error', () => failAll(new EgressFailure(TOO_LONG_MESSAGE)))
  worker.on('exit', () => failAll(new EgressFailure(TOO_LONG_MESSAGE)))
  worker.on('message', (answer: ReadingReply) => open.get(answer.id)?.settle(answer))
  return {
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure)
        const id = calls++
        const timer = setTimeout(() => {
          failAll(new EgressFailure(TOO_LONG_MESSAGE))
          void worker.terminate()
        }, maxCallMs)
        const settle = (answer: ReadingReply | Error) => {
          clearTimeout(timer)
          open.delete(id)
          if (answer instanceof Error) reject(answer)
          else if ('failure' in answer) reject(new EgressFailure(answer.failure))
          else resolve(answer.value as ReturnType<C[typeof name]>) // the call of this name returned it
        }
        open.set(id, { settle, timer })
        const request: ReadingRequest = { id, name, args }
        worker.postMessage(request)
      }),
    async close() {
      await worker.terminate()
    },
  }
}

/** The other side: runs calls, one after the other. */
export function serveCalls<C extends ThreadCalls<C>>(calls: C): void {
  const table = new Map<string, (...args: never[]) => unknown>(Object.entries(calls))
  parentPort?.on('message', ({ id, name, args }: ReadingRequest) => {
    const answer = (answered: ReadingReply) => parentPort?.postMessage(answered)
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
export function copyBytes(bytes: Uint8Array, maxBytes = bytes.byteLength): Uint8Array {
  return new Uint8Array(bytes.subarray(0, maxBytes))
}
