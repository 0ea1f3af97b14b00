import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { ExitWith, usageError } from '../cli/cli-error.js'
import { docFlag, spaceFlag } from '../cli/common-flags.js'
import { absenceLine } from '../cli/query/absence.js'
import { type Answer, answerJson, askQuestion, type Question } from '../cli/query/ask.js'
import { documentFilter, filterFlags } from '../cli/query/document-filter.js'
import { citationLines, citedEvidence, markedRanges } from '../cli/query/evidence.js'
import { footer } from '../cli/query/footer.js'
import { requireFresh, staleDocuments } from '../cli/query/fresh.js'
import { lastSession, rememberSession } from '../cli/query/last-session.js'
import { resolveDocuments, resolveId } from '../cli/resolve.js'
import { ttyLine } from '../cli/terminal.js'
import { textOfWords } from '../cli/words.js'
import { EXIT } from '../contract/errors.js'
import { QUERY_MODES } from '../contract/values.js'
import { searchedForText } from '../lib/text/searched-for.js'
import { Thinking } from '../lib/text/thinking.js'
import { withoutThoughts } from '../lib/text/thoughts.js'

/** Evidence states that `--require-evidence` accepts. */
const ANSWERED: ReadonlySet<string> = new Set(['answerable', 'conflict'])
/** Columns by which citations are indented; the passages below them are not. */
const INDENT = 2

export default class Query extends BaseCommand {
  static override summary = 'ask a space and stream the answer with its citations'
  static override examples = [
    '<%= config.bin %> query "who is on call in August?" --space example-space',
    '<%= config.bin %> query who is on call in August --space example-space',
    '<%= config.bin %> query - --space example-space --json < question.txt',
  ]
  static override strict = false
  static override args = {
    text: Args.string({ required: true, description: 'question, with or without quotes; - reads stdin' }),
  }
  static override flags = {
    ...spaceFlag,
    mode: Flags.option({
      char: 'm',
      options: QUERY_MODES,
      description: "query mode (default: mode of the space)",
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
    const query = await textOfWords(raw, 'the question')
    if (query === '') throw usageError('the question is empty')
    const { id } = await this.space()
    const question: Question = { knowledgeSpaceId: id, query }
    const mode = QUERY_MODES.find((known) => known === this.settings.mode?.value)
    if (mode !== undefined) question.mode = mode
    if (flags.doc !== undefined) question.activeDocumentIds = await this.documents(id, flags.doc)
    const filter = documentFilter(flags)
    if (filter !== undefined) question.filter = filter
    if (flags.entity !== undefined) question.activeEntityIds = flags.entity
    const session = this.sessionOf(flags.session, id)
    if (session !== undefined) question.sessionId = session

    const isStrict = flags.fresh === 'strict'
    const streams = !this.out.isJson && !flags['no-stream'] && !isStrict
    const answer = await this.ask(question, { streams, isStrict })
    if (answer.sessionId !== undefined) rememberSession(this.dirs.state, id, answer.sessionId)
    if (this.out.format === 'json') this.out.json(answerJson(answer))
    else if (this.out.format !== 'jsonl') await this.prose(answer, { ...flags, streamed: streams, spaceId: id })
    if (flags['require-evidence'] && !ANSWERED.has(answer.evidenceState ?? '')) {
      throw new ExitWith(EXIT.checkFailed)
    }
    if (isStrict) requireFresh(answer)
  }

  /** Asks the question. With `--fresh strict` and stale evidence, ingests the changed files and asks again. */
  private async ask(question: Question, { streams, isStrict }: Record<string, boolean>): Promise<Answer> {
    const client = await this.client()
    const frames: [string, unknown][] = []
    const thinking = new Thinking()
    // The last piece is withheld until the metadata arrive, because they contain the emphasis ranges of a quotation.
    let pending = ''
    const handlers = {
      onDelta: (text: string) => {
        if (!streams) return
        const [now, later] = this.out.emphasizes ? [pending, text] : [text, '']
        this.out.prose(thinking.add(now))
        pending = later
      },
      onFrame: (event: string, data: unknown) => {
        if (this.out.format !== 'jsonl') return
        if (isStrict) frames.push([event, data])
        else this.out.event(event, data)
      },
    }
    let answer = await askQuestion(client, question, handlers).catch((error: unknown) => {
      this.out.prose(thinking.add(pending))
      throw error
    })
    if (streams) {
      const text = thinking.add(pending) + thinking.end()
      this.out.prose(text, text === answer.answer ? markedRanges(answer.metadata) : [])
    }
    if (isStrict && staleDocuments(answer).length > 0) {
      const { ingestChanged } = await import('../cli/query/ingest-changed.js')
      const signal = this.deadline.signal
      const again = { client, spaceId: question.knowledgeSpaceId, stateDir: this.dirs.state, signal }
      if (await ingestChanged(answer, again)) {
        frames.length = 0
        answer = await askQuestion(client, question, handlers)
      }
    }
    for (const [event, data] of frames) this.out.event(event, data)
    return answer
  }

  private async prose(
    answer: Answer,
    show: { evidence: boolean; trace: boolean; streamed: boolean; spaceId: string },
  ): Promise<void> {
    const said = withoutThoughts(answer.answer)
    if (!show.streamed) this.out.prose(said, said === answer.answer ? markedRanges(answer.metadata) : [])
    this.out.endProse()
    if (!show.streamed || !answer.answer.endsWith('\n')) this.out.raw('\n')
    if (this.out.isQuiet) return
    const shown = citedEvidence(answer)
    if (shown.length > 0) this.out.line()
    for (const line of await citationLines(shown, this.out.unicode, this.common.verbose)) this.out.line(line)
    if (show.evidence) {
      for (const item of answer.evidence) {
        this.out.line()
        for (const line of await citationLines([item], this.out.unicode, true)) this.out.line(line.slice(INDENT))
        this.out.line(item.text.replace(/^/gm, '    '))
      }
    }
    this.out.note(`\n${footer(answer, this.out.symbols, this.out.short(answer.traceId))}`)
    if (answer.searchedFor !== undefined) this.out.note(ttyLine(searchedForText(answer.searchedFor)))
    const absence = await absenceLine(await this.client(), show.spaceId, answer)
    if (absence !== undefined) this.out.note(absence)
    for (const { reason } of answer.degraded) this.out.note(ttyLine(`${this.out.symbols.warn} ${reason}`))
    for (const { filename, matter } of staleDocuments(answer)) {
      this.out.note(ttyLine(`${this.out.symbols.warn} ${filename}: ${matter}`))
    }
    if (show.trace) await this.printTrace(answer.traceId)
  }

  private async printTrace(traceId: string): Promise<void> {
    const { traceLines } = await import('../cli/trace-view.js')
    const client = await this.client()
    const trace = await client.request('GET /queries/{traceId}', { path: { traceId } })
    this.out.line()
    for (const line of traceLines(trace)) this.out.line(line)
  }

  private async documents(spaceId: string, words: string[]): Promise<string[]> {
    return await resolveDocuments(await this.client(), spaceId, words, this.dirs.cache)
  }

  private sessionOf(asked: string | undefined, spaceId: string): string | undefined {
    if (asked === undefined || asked === 'new') return undefined
    return asked === 'last' ? lastSession(this.dirs.state, spaceId) : resolveId('session', asked, this.dirs.cache)
  }
}
