import { parentPort, workerData } from 'node:worker_threads'
import { buildSchema, loadTantivy, type TantivyWriter } from './tantivy-binding.js'
import { analyzeNode, type TextNode } from './text-index.js'
import type { TextThreadMessage, TextThreadReply, TextThreadRequest } from './text-thread.js'

/**
 * Entry of the thread that writes the text indexes of the index process. It analyses passages, stages, commits and
 * merges; searches use a separate reader on the same files.
 *
 * Test-only fault: with `faultsOn`, a passage with the word `ks-fault-hold-MS` delays the next commit of its index by
 * that many milliseconds. Without it the word has no effect.
 */

/** Postings collect here before they become a segment. The library's minimum is 15 MB. */
const WRITER_HEAP_BYTES = 32_000_000
/** One thread: a second one creates twice the segments for a third more speed. */
const WRITER_THREADS = 1

interface OpenTextWriter {
  writer: TantivyWriter
  isStaged: boolean
  holdMs: number
}

const { faultsOn }: { faultsOn: boolean } = workerData
const open = new Map<number, OpenTextWriter>()

function handle(request: TextThreadRequest): void {
  if (request.op === 'stage') {
    stage(request)
    return
  }
  const index = open.get(request.index)
  if (index === undefined) return
  switch (request.op) {
    case 'commit':
      if (index.holdMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, index.holdMs)
      index.holdMs = 0
      index.writer.commit()
      index.isStaged = false
      return
    case 'rollback':
      index.writer.rollback()
      index.isStaged = false
      return
    case 'release':
      // staged changes exist only in the writer
      if (!index.isStaged) release(request.index, index)
      return
    case 'close':
      release(request.index, index)
  }
}

function stage({ index, dir, add, remove }: Extract<TextThreadRequest, { op: 'stage' }>): void {
  const { binding, reason } = loadTantivy()
  if (binding === undefined) throw new Error(reason)
  let target = open.get(index)
  if (target === undefined) {
    const writer = new binding.Index(buildSchema(binding), dir, true).writer(WRITER_HEAP_BYTES, WRITER_THREADS)
    target = { writer, isStaged: false, holdMs: 0 }
    open.set(index, target)
  }
  const { writer } = target
  target.isStaged = true
  for (const key of remove) writer.deleteDocumentsByTerm('key', String(key))
  for (const node of add) {
    const key = String(node.key)
    const document = new binding.Document()
    document.addText('key', key)
    document.addText('doc', String(node.doc))
    document.addText('text', analyzeNode(node))
    writer.deleteDocumentsByTerm('key', key)
    writer.addDocument(document)
    if (faultsOn) target.holdMs += parseHoldMs(node)
  }
}

/** Releases a writer with everything staged, once its merges are done. */
function release(key: number, { writer }: OpenTextWriter): void {
  open.delete(key)
  writer.waitMergingThreads()
}

function parseHoldMs({ text }: TextNode): number {
  const body = typeof text === 'string' ? text : text.body
  return Number(/ks-fault-hold-(\d+)/.exec(body)?.[1] ?? 0)
}

parentPort?.on('message', ({ id, request }: TextThreadMessage) => {
  const answer: TextThreadReply = { id }
  try {
    handle(request)
  } catch (error) {
    // only the message and numbers survive the transfer
    answer.error = error instanceof Error ? error : new Error(String(error))
  }
  parentPort?.postMessage(answer)
})
