import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { readArgumentText } from '../cli/argument-words.js'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith, usageError } from '../cli/cli-error.js'
import { docFlag, spacesFlags } from '../cli/common-flags.js'
import { explainAbsence } from '../cli/query/absence.js'
import { toAnswerJson } from '../cli/query/answer-json.js'
import { askQuestion, type QueryAnswer, type QueryAskRequest } from '../cli/query/ask.js'
import { filterFlags, toDocumentFilter } from '../cli/query/document-filter.js'
import { formatCitations, parseMarkedRanges, selectCitedEvidence } from '../cli/query/evidence.js'
import { formatFooter } from '../cli/query/footer.js'
import { checkFresh, listStaleDocuments } from '../cli/query/fresh.js'
import { getLastSession, saveLastSession } from '../cli/query/last-session.js'
import { toDocumentScope, toQuestionSpaces } from '../cli/query/scope.js'
import { listSpaceProblems, parseSearchedSpaces } from '../cli/query/searched-spaces.js'
import { resolveId } from '../cli/resolve.js'
import { ttyLine } from '../cli/terminal.js'
import { EXIT } from '../contract/errors.js'
import { QUERY_MODES } from '../contract/values.js'
import { formatCorrections } from '../lib/text/format-corrections.js'
import { ThoughtSeparator } from '../lib/text/thinking.js'
import { stripThoughts } from '../lib/text/thoughts.js'

/** Evidence states that `--require-evidence` accepts. */
const ANSWERED_STATES: ReadonlySet<string> = new Set(['answerable', 'conflict'])
/** Columns by which citations are indented; the passages below them are not. */
const INDENT = 2

export default class Query extends BaseCommand {
  static override summary = 'ask one or more spaces and stream the answer with its citations'
  static override examples = [
    '<%= config.bin %> query "who is on call in August?" --space example-space',
    '<%= config.bin %> query who is on call in August --space example-space',
    '<%= config.bin %> query "who is on call in August?" --all-spaces',
    '<%= config.bin %> query "who is on call in August?" --space example-space --doc "*.md"',
    '<%= config.bin %> query - --space example-space --json < question.txt',
  ]
  static override strict = false
  static override args = {
    text: Args.string({ required: true, description: 'question, with or without quotes; - reads stdin' }),
  }
  static override flags = {
    ...spacesFlags,
    mode: Flags.option({
      char: 'm',
      options: QUERY_MODES,
      description: 'query mode (default: mode of the space)',
    })(),
    ...docFlag,
    ...filterFlags,
    entity: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'id',
      description: 'id of an entity that the question is about; repeatable',
    }),
    session: Flags.string({ helpValue: 'new|last|id', description: 'conversation of the question' }),
    evidence: Flags.boolean({ description: 'print the evidence for the answer, with the reason for each passage' }),
    fresh: Flags.option({
      options: ['strict'] as const,
      description: 'ingest changed files first; exits with 10 if evidence is still stale',
    })(),
    trace: Flags.boolean({ description: 'print the trace after the answer' }),
    'require-evidence': Flags.boolean({ description: 'exit with 10 unless the documents answer the question' }),
    'no-stream': Flags.boolean({ description: 'print the answer only when it is complete' }),
  }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(Query)
    const query = await readArgumentText(raw, 'the question')
    if (query === '') throw usageError('the question is empty')
    const selection = toQuestionSpaces(await this.spaces(flags))
    const id = 'knowledgeSpaceId' in selection ? selection.knowledgeSpaceId : undefined
    if (id === undefined) assertOneSpace(flags)
    const names = { names: flags.doc, filter: toDocumentFilter(flags) }
    const documents = await toDocumentScope(await this.client(), selection, names, this.dirs.cache)
    const question: QueryAskRequest = { ...selection, query, ...documents }
    const mode = QUERY_MODES.find((candidate) => candidate === this.settings.mode?.value)
    if (mode !== undefined) question.mode = mode
    if (flags.entity !== undefined) question.activeEntityIds = flags.entity
    const session = id === undefined ? undefined : this.resolveSession(flags.session, id)
    if (session !== undefined) question.sessionId = session

    const isStrict = flags.fresh === 'strict'
    const isStreaming = !this.out.isJson && !flags['no-stream'] && !isStrict
    const answer = await this.runQuestion(question, { streams: isStreaming, isStrict })
    if (id !== undefined && answer.sessionId !== undefined) saveLastSession(this.dirs.state, id, answer.sessionId)
    const { url } = (await this.client()).transport.target
    if (this.out.format === 'json') this.out.json(toAnswerJson(answer, { url, space: id }))
    else if (this.out.format !== 'jsonl')
      await this.printAnswer(answer, { ...flags, streamed: isStreaming, spaceId: id, hasAll: flags['all-spaces'] })
    if (flags['require-evidence'] && !ANSWERED_STATES.has(answer.evidenceState ?? '')) {
      throw new ExitWith(EXIT.checkFailed)
    }
    if (isStrict) checkFresh(answer)
  }

  /** Asks the question. With `--fresh strict` and stale evidence, ingests the changed files and asks again. */
  private async runQuestion(
    question: QueryAskRequest,
    { streams, isStrict }: { streams: boolean; isStrict: boolean },
  ): Promise<QueryAnswer> {
    const client = await this.client()
    const frames: [string, unknown][] = []
    const separator = new ThoughtSeparator()
    // The last delta is withheld until the metadata arrive, because they contain the emphasis ranges of a quotation.
    let pending = ''
    const handlers = {
      onDelta: (text: string) => {
        if (!streams) return
        const [emitted, withheld] = this.out.canEmphasize ? [pending, text] : [text, '']
        this.out.prose(separator.add(emitted))
        pending = withheld
      },
      onFrame: (event: string, data: unknown) => {
        if (this.out.format !== 'jsonl') return
        if (isStrict) frames.push([event, data])
        else this.out.event(event, data)
      },
    }
    let answer = await askQuestion(client, question, handlers).catch((error: unknown) => {
      this.out.prose(separator.add(pending))
      throw error
    })
    if (streams) {
      const text = separator.add(pending) + separator.end()
      this.out.prose(text, text === answer.answer ? parseMarkedRanges(answer.metadata) : [])
    }
    if (isStrict && 'knowledgeSpaceId' in question && listStaleDocuments(answer).length > 0) {
      const { ingestChanged } = await import('../cli/query/ingest-changed.js')
      const signal = this.deadline.signal
      const ingestOptions = { client, spaceId: question.knowledgeSpaceId, stateDir: this.dirs.state, signal }
      if (await ingestChanged(answer, ingestOptions)) {
        frames.length = 0
        answer = await askQuestion(client, question, handlers)
      }
    }
    for (const [event, data] of frames) this.out.event(event, data)
    return answer
  }

  private async printAnswer(
    answer: QueryAnswer,
    options: { evidence: boolean; trace: boolean; streamed: boolean; spaceId: string | undefined; hasAll: boolean },
  ): Promise<void> {
    const text = stripThoughts(answer.answer)
    if (!options.streamed) this.out.prose(text, text === answer.answer ? parseMarkedRanges(answer.metadata) : [])
    this.out.endProse()
    if (!options.streamed || !answer.answer.endsWith('\n')) this.out.raw('\n')
    if (this.out.isQuiet) return
    const cited = selectCitedEvidence(answer)
    if (cited.length > 0) this.out.line()
    const { unicode } = this.out
    const citationLines = await formatCitations(cited, { unicode, hasReasons: this.common.verbose })
    for (const line of citationLines) this.out.line(line)
    if (options.evidence) {
      for (const item of answer.evidence) {
        this.out.line()
        const lines = await formatCitations([item], { unicode, hasReasons: true })
        for (const line of lines) this.out.line(line.slice(INDENT))
        this.out.line(item.text.replace(/^/gm, '    '))
      }
    }
    this.out.note(`\n${formatFooter(answer, this.out.symbols, this.out.shortenId(answer.traceId))}`)
    if (answer.searchedFor !== undefined) this.out.note(ttyLine(formatCorrections(answer.searchedFor)))
    const { spaceId } = options
    const absence = spaceId === undefined ? undefined : await explainAbsence(await this.client(), spaceId, answer)
    if (absence !== undefined) this.out.note(absence)
    const spaces = parseSearchedSpaces(answer.metadata)
    // Among all spaces, some are usually empty.
    for (const problem of options.hasAll ? [] : listSpaceProblems(spaces))
      this.out.note(ttyLine(`${this.out.symbols.warn} ${problem}`))
    for (const { reason } of answer.degraded) this.out.note(ttyLine(`${this.out.symbols.warn} ${reason}`))
    for (const { filename, reason } of listStaleDocuments(answer)) {
      this.out.note(ttyLine(`${this.out.symbols.warn} ${filename}: ${reason}`))
    }
    if (!options.trace) return
    if (spaces.length === 0) await this.printTrace(answer.traceId)
    for (const { slug, traceId } of spaces) if (traceId !== undefined) await this.printTrace(traceId, slug)
  }

  private async printTrace(traceId: string, slug?: string): Promise<void> {
    const { formatTrace } = await import('../cli/trace-view.js')
    const client = await this.client()
    const trace = await client.request('GET /queries/{traceId}', { path: { traceId } })
    this.out.line()
    if (slug !== undefined) this.out.line(ttyLine(slug))
    for (const line of formatTrace(trace)) this.out.line(line)
  }

  private resolveSession(reference: string | undefined, spaceId: string): string | undefined {
    if (reference === undefined || reference === 'new') return undefined
    return reference === 'last'
      ? getLastSession(this.dirs.state, spaceId)
      : resolveId('session', reference, this.dirs.cache)
  }
}

/** @throws CliError exit 2 for flags that need one space */
function assertOneSpace(flags: { session?: string | undefined; fresh?: string | undefined }): void {
  if (flags.session !== undefined && flags.session !== 'new')
    throw usageError(
      '--session takes one space: a conversation belongs to its space',
      'leave out --session, or ask one space',
    )
  if (flags.fresh !== undefined) throw usageError('--fresh strict takes one space', 'ask one space after another')
}
