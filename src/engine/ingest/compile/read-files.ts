import { omitUndefined } from '../../../lib/omit-undefined.js'
import { parseLanguageSelection, selectLanguages } from '../../../local/ocr-languages.js'
import { type EngineContext, getNestingDepths } from '../../library/index.js'
import { FIRST_BUDGET_MS, OCR_ENGINE, parsePages } from '../../readers/index.js'
import type { CompileRequest, CompileResult, ContainedSink, ReadingProgress } from '../../store/compiled.js'
import type { Read } from '../../store/program.js'
import { hasPendingPages, type OcrRequest, type RecognisedPage } from '../../store/recognised-pages.js'
import { getDeclaredCharset } from '../../store/rows/documents.js'
import { countDueJobs } from '../../store/rows/job-claims.js'
import { listOcrPages, storeOcrPages } from '../../store/rows/ocr-pages.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { arePublished } from '../../store/rows/versions.js'
import { findPictureDescriptions } from './described-pictures.js'
import { readRecording } from './recordings.js'
import type { CompileWork } from './work.js'

/** Maximum slices of `FIRST_BUDGET_MS` for one document in one run; other work runs between them. */
const MAX_SLICES = 12

/** Only one document at a time is read for more than one slice, in whatever space, so that others make progress. */
const continuing = new WeakSet<EngineContext>()

/** A file that was read. */
export interface FileReadResult {
  result: CompileResult
  /** its pages were counted before: this run continues with its pictures */
  isContinued: boolean
}

/** A document of a batch whose file is available. */
interface AvailableFile {
  work: CompileWork
  batchIndex: number
  ocr: OcrRequest & { known: RecognisedPage[] }
  request: CompileRequest
}

interface BatchReading {
  /** receives files contained in the files */
  containedSink: ContainedSink
  signal: AbortSignal
}

/**
 * Reads the files of a batch in the order of their jobs. Pages that are pictures take long: of a document with many,
 * some are read first and stored, and the rest when the document is compiled the next time (see `continueReading`). The progress
 * is visible meanwhile (`context.reading`), without a write.
 */
export async function readFiles(
  context: EngineContext,
  space: SpaceRow,
  batch: readonly CompileWork[],
  reading: BatchReading,
): Promise<(FileReadResult | undefined)[]> {
  try {
    return await readBatch(context, space, batch, reading)
  } finally {
    for (const { job } of batch) context.reading.delete(job.id)
  }
}

async function readBatch(
  context: EngineContext,
  space: SpaceRow,
  batch: readonly CompileWork[],
  { containedSink, signal }: BatchReading,
): Promise<(FileReadResult | undefined)[]> {
  const described = await findPictureDescriptions(context, space, batch)
  const documents = batch.map(({ document }) => document)
  const depths = await context.db.read(getNestingDepths(documents))
  const keys = documents.map((document) => document.object_key)
  return await context.objects.local(keys, async (files) => {
    const languages = getLanguages(context, space)
    const budgetMs = context.options.ocrBudgetMs ?? FIRST_BUDGET_MS
    const engine = describeEngine(languages)
    const known = await loadKnownPages(context, batch, engine)
    const isPublished = await loadIsPublished(context, batch)
    const available = batch.flatMap((work, index): AvailableFile[] => {
      const file = files[index]
      if (file === undefined) return []
      const { filename, mime_type: declaredType } = work.document
      const ocr = { languages, budgetMs, known: known[index] ?? [] }
      const descriptions = described.get(work.document.key)
      const optional = omitUndefined({ descriptions, declaredCharset: getDeclaredCharset(work.document) })
      const options = { depth: depths[index] ?? 0, ocr, mayBeEmpty: isPublished[index] ?? false, ...optional }
      return [{ work, batchIndex: index, ocr, request: { ...file, filename, declaredType, ...options } }]
    })
    const requests = available.map(({ request }) => request)
    const onProgress = (index: number, progress: ReadingProgress) => {
      const job = available[index]?.work.job
      if (job !== undefined) context.reading.set(job.id, progress)
    }
    const results = await context.compiler.compile(requests, signal, {
      onProgress,
      // translates indexes of the available files to those of the batch
      containedSink: {
        begin: (index) => containedSink.begin(available[index]?.batchIndex ?? -1),
        write: (index, bytes) => containedSink.write(available[index]?.batchIndex ?? -1, bytes),
        end: (index, kept) => containedSink.end(available[index]?.batchIndex ?? -1, kept),
      },
    })
    const reads: (FileReadResult | undefined)[] = batch.map(() => undefined)
    for (const [index, file] of available.entries()) {
      const parsed = results[index]
      const result = parsed && (await readRecording(context, space, { ...file, result: parsed }, signal))
      if (result === undefined) continue
      const maxSlices = batch.length === 1 && file.work.job.version > 1 ? MAX_SLICES : 1
      const read = await continueReading(context, space, { ...file, result }, { engine, maxSlices, signal })
      reads[file.batchIndex] = { result: read, isContinued: file.ocr.known.length > 0 }
    }
    return reads
  })
}

/** Stores the pages recognised so far, and continues slice by slice while no other job waits. */
async function continueReading(
  context: EngineContext,
  space: SpaceRow,
  { work: { document }, request, ocr, result: first }: AvailableFile & { result: CompileResult },
  { engine, maxSlices, signal }: { engine: string; maxSlices: number; signal: AbortSignal },
): Promise<CompileResult> {
  const known: RecognisedPage[] = [...ocr.known]
  const mayContinue = maxSlices > 1 && !continuing.has(context)
  if (mayContinue) continuing.add(context)
  try {
    let result = first
    for (let slice = 1; result.ok; slice++) {
      const fresh = result.document.recognised
      if (fresh.length > 0) await context.db.write(() => storeOcrPages(document, engine, fresh), { lock: space.key })
      known.push(...fresh)
      const isDone = !hasPendingPages(result.document.metadata) || fresh.length === 0
      if (isDone || !mayContinue || slice === maxSlices) break
      signal.throwIfAborted()
      if ((await context.db.read(countDueJobs(space.key, 1))) > 0) break
      await context.foregroundPriority.yieldToQueries()
      // contained files were taken in the first run
      const { depth: _, ...again } = request
      const [next] = await context.compiler.compile([{ ...again, ocr: { ...ocr, known } }], signal)
      // a partial result is better than none
      if (next?.ok !== true) break
      const { contained } = result.document
      result = { ok: true, document: { ...next.document, ...omitUndefined({ contained }) } }
    }
    return result
  } finally {
    if (mayContinue) continuing.delete(context)
  }
}

/** The known pages of documents that are compiled again. */
async function loadKnownPages(
  { db }: EngineContext,
  batch: readonly CompileWork[],
  engine: string,
): Promise<(RecognisedPage[] | undefined)[]> {
  if (batch.every(({ job }) => job.version === 1)) return []
  return await db.read(readKnownPages(batch, engine))
}

/** Whether the document of each work has a published version; an empty list if all are compiled for the first time. */
async function loadIsPublished({ db }: EngineContext, batch: readonly CompileWork[]): Promise<boolean[]> {
  if (batch.every(({ job }) => job.version === 1)) return []
  return await db.read(arePublished(batch.map(({ document }) => document.key)))
}

function* readKnownPages(batch: readonly CompileWork[], engine: string): Read<(RecognisedPage[] | undefined)[]> {
  const known: (RecognisedPage[] | undefined)[] = []
  for (const { job, document } of batch)
    known.push(job.version === 1 ? undefined : parsePages(yield* listOcrPages(document, engine)))
  return known
}

/** The languages of the space, or the default ones. */
function getLanguages({ options }: EngineContext, space: SpaceRow): OcrRequest['languages'] {
  const { forAll, bySpace, folder } = options.ocr ?? parseLanguageSelection(options.dataDir, [])
  return selectLanguages(bySpace[space.slug] ?? forAll, folder)
}

/** The engine and languages that pages were read with: with other languages they are read again. */
function describeEngine({ codes, others = [] }: OcrRequest['languages']): string {
  return [OCR_ENGINE, codes.join('+'), ...(others.length > 0 ? [`or ${others.join(', ')}`] : [])].join(' ')
}
