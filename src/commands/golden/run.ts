import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith, usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { GoldenCase } from '../../cli/golden/question.js'
import type { GoldenReport } from '../../cli/golden/report.js'
import { writeJson } from '../../cli/json-file.js'
import { EXIT } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import { QUERY_MODES } from '../../contract/values.js'
import { defined } from '../../lib/defined.js'

const CONCURRENCY = 4

export default class GoldenRun extends BaseCommand {
  static override summary = 'run golden questions and check their evidence and answers'
  static override description =
    'Exits with 10 if a check fails, with 3 if a question cannot be run or its expected text no longer exists, otherwise with 0.'
  static override examples = [
    '<%= config.bin %> golden run --space example-space --min-recall 0.85',
    '<%= config.bin %> golden run --file golden.yaml --space example-space --baseline golden-baseline.json --junit golden.xml',
  ]
  static override flags = {
    ...spaceFlag,
    file: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'file',
      description: 'YAML, JSON or JSON Lines file of questions, instead of those of the space',
    }),
    stored: Flags.boolean({ description: 'also run the questions of the space, in addition to --file' }),
    mode: Flags.option({
      char: 'm',
      options: QUERY_MODES,
      description: "query mode (default: mode of the space)",
    })(),
    tag: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'tag',
      description: 'only questions with one of these tags',
    }),
    limit: Flags.integer({ min: 1, helpValue: 'n', description: 'maximum questions' }),
    k: Flags.integer({
      min: 1,
      max: LIMITS.topK,
      helpValue: 'n',
      description: 'count of evidence items to check (default: all)',
    }),
    concurrency: Flags.integer({
      min: 1,
      max: 16,
      helpValue: 'n',
      description: `concurrent questions (default ${CONCURRENCY})`,
    }),
    'min-recall': Flags.string({ helpValue: '0..1', description: 'minimum average recall of the expected evidence' }),
    'min-mrr': Flags.string({ helpValue: '0..1', description: 'minimum mean reciprocal rank' }),
    'min-answerable': Flags.string({ helpValue: '0..1', description: 'minimum fraction correctly answered or refused' }),
    'min-answer': Flags.string({
      helpValue: '0..1',
      description: 'minimum fraction of correct answers, where one is expected',
    }),
    baseline: Flags.string({ helpValue: 'file', description: 'file with the metrics of an earlier run, to compare with' }),
    'save-baseline': Flags.string({ helpValue: 'file', description: 'file for the metrics of this run' }),
    tolerance: Flags.string({ helpValue: '0..1', description: 'maximum drop of an average below the baseline' }),
    junit: Flags.string({ helpValue: 'file', description: 'file for a JUnit report' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(GoldenRun)
    const minimums = {
      recall: share(flags['min-recall'], '--min-recall'),
      mrr: share(flags['min-mrr'], '--min-mrr'),
      answerable: share(flags['min-answerable'], '--min-answerable'),
      answer: share(flags['min-answer'], '--min-answer'),
    }
    const tolerance = share(flags.tolerance, '--tolerance') ?? 0
    const { baselineOf, checkMinimums, compare, readBaseline } = await import('../../cli/golden/gate.js')
    const baseline = flags.baseline === undefined ? undefined : readBaseline(flags.baseline)
    const cases = this.chosen(await this.cases(flags), flags)
    const mode = QUERY_MODES.find((known) => known === this.settings.mode?.value)
    const run = { mode: mode ?? 'default', k: flags.k ?? LIMITS.topK }
    const results = await this.ask(cases, { ...run, mode, concurrency: flags.concurrency ?? CONCURRENCY })
    const { isComplete, makeReport } = await import('../../cli/golden/report.js')
    const checks = checkMinimums(makeReport(results, run, [], undefined).metrics, minimums)
    const comparison = baseline === undefined ? undefined : compare(results, baseline, tolerance)
    const report = makeReport(results, run, checks, comparison)
    await this.print(report)
    if (flags.junit !== undefined) {
      const { junit } = await import('../../cli/golden/junit.js')
      const { saveText } = await import('../../cli/save-body.js')
      await saveText(junit(report), flags.junit)
    }
    const complete = isComplete(report)
    if (flags['save-baseline'] !== undefined) {
      if (complete) writeJson(flags['save-baseline'], baselineOf(results, run))
      else this.out.warn('ks: the baseline was not saved: some questions could not be measured')
    }
    if (!report.passed) throw new ExitWith(EXIT.checkFailed)
    if (!complete) throw new ExitWith(EXIT.partial)
  }

  private async cases(flags: { file?: string[] | undefined; stored: boolean }): Promise<GoldenCase[]> {
    const cases: GoldenCase[] = []
    if (flags.file !== undefined) {
      const { readCases } = await import('../../cli/golden/file.js')
      for (const file of flags.file) cases.push(...readCases(file))
    }
    if (flags.file === undefined || flags.stored) {
      const { storedCases } = await import('../../cli/golden/run.js')
      cases.push(...(await storedCases(await this.client(), (await this.space()).id)))
    }
    const seen = new Set<string>()
    for (const { id } of cases) {
      if (seen.has(id))
        throw usageError(`two questions have the id ${JSON.stringify(id)}`, 'give each a unique `id`')
      seen.add(id)
    }
    return cases
  }

  private chosen(
    cases: readonly GoldenCase[],
    flags: { tag?: string[] | undefined; limit?: number | undefined },
  ): GoldenCase[] {
    const { tag, limit } = flags
    const tagged = tag === undefined ? cases : cases.filter(({ tags }) => tags.some((each) => tag.includes(each)))
    if (tagged.length === 0)
      throw usageError('there are no questions to run', 'give `--file`, or add questions to the space')
    return tagged.slice(0, limit)
  }

  private async ask(
    cases: GoldenCase[],
    run: { mode: (typeof QUERY_MODES)[number] | undefined; k: number; concurrency: number },
  ) {
    const { runCases } = await import('../../cli/golden/run.js')
    const { withProgressLine } = await import('../../cli/follow-work.js')
    const { id: spaceId } = await this.space()
    const client = await this.client()
    let done = 0
    const { mode, k, concurrency } = run
    const line = () => `${done} of ${cases.length} questions run`
    return withProgressLine(this.out, line, () =>
      runCases(client, cases, {
        spaceId,
        k,
        concurrency,
        ...defined({ mode }),
        onDone: (result) => {
          done++
          if (this.out.format === 'jsonl') this.out.event('question', result)
        },
      }),
    )
  }

  private async print(report: GoldenReport): Promise<void> {
    const { reportLines } = await import('../../cli/golden/report.js')
    if (this.out.format === 'json') this.out.json(report)
    else if (this.out.format === 'jsonl') {
      const { results: _, ...summary } = report
      this.out.event('done', summary)
    } else if (this.out.format === 'tsv') {
      const figures = ['status', 'recall', 'reciprocalRank', 'answerable', 'answer.right']
      const faults = ['missing', 'answer.missing', 'answer.forbidden', 'unresolved', 'error']
      const fields = [...figures, 'question', ...faults]
      await this.out.list(report.results, { columns: fields.map((field) => ({ field })), empty: 'No questions.' })
      const { checkLine } = await import('../../cli/golden/report.js')
      for (const check of report.checks) this.out.note(checkLine(check))
    } else for (const line of reportLines(report)) this.out.line(line)
  }
}

/** Parses a fraction. @throws CliError exit 2 unless it is a number from 0 to 1 */
function share(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1)) {
    throw usageError(`${name} must be a number from 0 to 1, received ${JSON.stringify(text)}`)
  }
  return value
}
