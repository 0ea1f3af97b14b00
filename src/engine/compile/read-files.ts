import { defined } from '../../lib/defined.js'
import { chosenLanguages, languagesToRead } from '../../local/ocr-languages.js'
import type { EngineContext } from '../context.js'
import { depthsOf } from '../documents/contained.js'
import type { CompileRequest, CompileResult, ContainedSink, ReadingProgress } from '../parse/compiled.js'
import { FIRST_BUDGET_MS } from '../parse/ocr/budget.js'
import { OCR_ENGINE, parsePages } from '../parse/ocr/pages.js'
import { type OcrRequest, type RecognisedPage, waitsForPages } from '../parse/ocr/pages-read.js'
import { countWaiting } from '../rows/job-claims.js'
import { keepOcrPages, ocrPages } from '../rows/ocr-pages.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { describedPictures } from './described-pictures.js'
import { readRecording } from './recordings.js'
import type { Work } from './work.js'

/** Maximum slices of `FIRST_BUDGET_MS` for one document in one run; other work runs between them. */
const SLICES = 12

/** Only one document at a time is read for more than one slice, in whatever space, so that others make progress. */
const readingOn = new WeakSet<EngineContext>()

/** A file that was read. */
export interface FileRead {
  result: CompileResult
  /** its pages were counted before: this run continues with its pictures */
  isReadOn: boolean
}

/** A document of a batch whose file is available. */
interface There {
  work: Work
  place: number
  ocr: OcrRequest & { known: RecognisedPage[] }
  request: CompileRequest
}

/**
 * Reads the files of a batch in the order of their jobs. Pages that are pictures take long: of a document with many,
 * some are read first and stored, and the rest when the document is compiled the next time (see `readOn`). The progress
 * is visible meanwhile (`context.reading`), without a write.
 *
 * @param inside receives files contained in the files
 */
export async function readFiles(
  context: EngineContext,
  space: SpaceRow,
  batch: readonly Work[],
  inside: ContainedSink,
  signal: AbortSignal,
): Promise<(FileRead | undefined)[]> {
  try {
    return await readTogether(context, space, batch, inside, signal)
  } finally {
    for (const { job } of batch) context.reading.delete(job.id)
  }
}

async function readTogether(
  context: EngineContext,
  space: SpaceRow,
  batch: readonly Work[],
  inside: ContainedSink,
  signal: AbortSignal,
): Promise<(FileRead | undefined)[]> {
  const described = await describedPictures(context, space, batch)
  const documents = batch.map(({ document }) => document)
  const depths = await context.db.read(depthsOf(documents))
  const keys = documents.map((document) => document.object_key)
  return await context.objects.local(keys, async (files) => {
    const languages = languagesOf(context, space)
    const budgetMs = context.options.ocrBudgetMs ?? FIRST_BUDGET_MS
    const engine = engineOf(languages)
    const known = await knownPages(context, batch, engine)
    const there = batch.flatMap((work, place): There[] => {
      const file = files[place]
      if (file === undefined) return []
      const { filename, mime_type: declaredType } = work.document
      const ocr = { languages, budgetMs, known: known[place] ?? [] }
      const descriptions = described.get(work.document.key)
      const wanted = { depth: depths[place] ?? 0, ocr, ...defined({ descriptions }) }
      return [{ work, place, ocr, request: { ...file, filename, declaredType, ...wanted } }]
    })
    const requests = there.map(({ request }) => request)
    const onProgress = (place: number, progress: ReadingProgress) => {
      const job = there[place]?.work.job
      if (job !== undefined) context.reading.set(job.id, progress)
    }
    const results = await context.compiler.compile(requests, signal, {
      onProgress,
      // translates indexes of the available files to those of the batch
      inside: {
        begin: (at) => inside.begin(there[at]?.place ?? -1),
        piece: (at, bytes) => inside.piece(there[at]?.place ?? -1, bytes),
        end: (at, kept) => inside.end(there[at]?.place ?? -1, kept),
      },
    })
    const read: (FileRead | undefined)[] = batch.map(() => undefined)
    for (const [at, one] of there.entries()) {
      const found = results[at]
      const first = found && (await readRecording(context, space, one, found, signal))
      if (first === undefined) continue
      const most = batch.length === 1 && one.work.job.version > 1 ? SLICES : 1
      const result = await readFurther(context, space, one, first, { engine, most, signal })
      read[one.place] = { result, isReadOn: one.ocr.known.length > 0 }
    }
    return read
  })
}

/** Stores the pages recognised so far, and continues slice by slice while no other job waits. */
async function readFurther(
  context: EngineContext,
  space: SpaceRow,
  { work: { document }, request, ocr }: There,
  first: CompileResult,
  { engine, most, signal }: { engine: string; most: number; signal: AbortSignal },
): Promise<CompileResult> {
  const known: RecognisedPage[] = [...ocr.known]
  const isFirst = most > 1 && !readingOn.has(context)
  if (isFirst) readingOn.add(context)
  try {
    let result = first
    for (let slice = 1; result.ok; slice++) {
      const fresh = result.document.recognised
      if (fresh.length > 0) await context.db.write(() => keepOcrPages(document, engine, fresh), { lock: space.key })
      known.push(...fresh)
      const isDone = !waitsForPages(result.document.metadata) || fresh.length === 0
      if (isDone || !isFirst || slice === most) break
      signal.throwIfAborted()
      if ((await context.db.read(countWaiting(space.key, 1))) > 0) break
      await context.rightOfWay.giveWay()
      // contained files were taken in the first run
      const { depth: _, ...again } = request
      const [next] = await context.compiler.compile([{ ...again, ocr: { ...ocr, known } }], signal)
      // a partial result is better than none
      if (next?.ok !== true) break
      const { contained } = result.document
      result = { ok: true, document: { ...next.document, ...defined({ contained }) } }
    }
    return result
  } finally {
    if (isFirst) readingOn.delete(context)
  }
}

/** The known pages of documents that are compiled again. */
async function knownPages(
  { db }: EngineContext,
  batch: readonly Work[],
  engine: string,
): Promise<(RecognisedPage[] | undefined)[]> {
  if (batch.every(({ job }) => job.version === 1)) return []
  return await db.read(knownOf(batch, engine))
}

function* knownOf(batch: readonly Work[], engine: string): Read<(RecognisedPage[] | undefined)[]> {
  const known: (RecognisedPage[] | undefined)[] = []
  for (const { job, document } of batch)
    known.push(job.version === 1 ? undefined : parsePages(yield* ocrPages(document, engine)))
  return known
}

/** The languages of the space, or the default ones. */
function languagesOf({ options }: EngineContext, space: SpaceRow): OcrRequest['languages'] {
  const { forAll, ofSpaces, folder } = options.ocr ?? chosenLanguages(options.dataDir, [])
  return languagesToRead(ofSpaces[space.slug] ?? forAll, folder)
}

/** The engine and languages that pages were read with: with other languages they are read again. */
function engineOf({ codes, others = [] }: OcrRequest['languages']): string {
  return [OCR_ENGINE, codes.join('+'), ...(others.length > 0 ? [`or ${others.join(', ')}`] : [])].join(' ')
}
