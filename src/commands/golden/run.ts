import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith, usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { writeJson } from '../../cli/json-file.js'
import type { GoldenReport } from '../../cli/json-output/quality.js'
import { localPath } from '../../cli/local-path.js'
import { EXIT } from '../../contract/errors.js'
import type { CreateGoldenRunBody, GoldenCase } from '../../contract/gateway/golden-runs.js'
import { LIMITS } from '../../contract/limits.js'
import { QUERY_MODES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

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
      ...localPath,
      helpValue: 'file',
      description: 'YAML, JSON or JSON Lines file of questions, instead of those of the space',
    }),
    stored: Flags.boolean({ description: 'also run the questions of the space, in addition to --file' }),
    mode: Flags.option({
      char: 'm',
      options: QUERY_MODES,
      description: 'query mode (default: mode of the space)',
    })(),
    tag: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'tag',
      description: 'only questions with one of these tags',
    }),
    limit: Flags.integer({ char: 'n', min: 1, helpValue: 'n', description: 'maximum questions' }),
    k: Flags.integer({
      min: 1,
      max: LIMITS.topK,
      helpValue: 'n',
      description: 'count of evidence items to check (default: all)',
    }),
    concurrency: Flags.integer({
      min: 1,
      max: LIMITS.goldenConcurrency.max,
      helpValue: 'n',
      description: `concurrent questions (default ${LIMITS.goldenConcurrency.default})`,
    }),
    'min-recall': Flags.string({ helpValue: '0..1', description: 'minimum average recall of the expected evidence' }),
    'min-mrr': Flags.string({ helpValue: '0..1', description: 'minimum mean reciprocal rank' }),
    'min-answerable': Flags.string({
      helpValue: '0..1',
      description: 'minimum fraction correctly answered or refused',
    }),
    'min-answer': Flags.string({
      helpValue: '0..1',
      description: 'minimum fraction of correct answers, where one is expected',
    }),
    baseline: Flags.string({
      ...localPath,
      helpValue: 'file',
      description: 'file with the metrics of an earlier run, to compare with',
    }),
    'save-baseline': Flags.string({ ...localPath, helpValue: 'file', description: 'file for the metrics of this run' }),
    tolerance: Flags.string({ helpValue: '0..1', description: 'maximum drop of an average below the baseline' }),
    junit: Flags.string({ ...localPath, helpValue: 'file', description: 'file for a JUnit report' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(GoldenRun)
    const minimums = {
      recall: parseFraction(flags['min-recall'], '--min-recall'),
      mrr: parseFraction(flags['min-mrr'], '--min-mrr'),
      answerable: parseFraction(flags['min-answerable'], '--min-answerable'),
      answer: parseFraction(flags['min-answer'], '--min-answer'),
    }
    const tolerance = parseFraction(flags.tolerance, '--tolerance') ?? 0
    const { makeBaseline, checkMinimums, compareToBaseline, readBaseline } = await import('../../cli/golden/gate.js')
    const baseline = flags.baseline === undefined ? undefined : readBaseline(flags.baseline)
    const mode = QUERY_MODES.find((candidate) => candidate === this.settings.mode?.value)
    const run = { mode: mode ?? 'default', k: flags.k ?? LIMITS.topK }
    const results = await this.runQuestions({
      questions: flags.file === undefined ? undefined : await this.readFiles(flags.file),
      stored: flags.stored,
      tags: flags.tag,
      limit: flags.limit,
      k: flags.k,
      concurrency: flags.concurrency,
      mode,
    })
    const { isComplete, makeGoldenReport } = await import('../../cli/golden/report.js')
    const checks = checkMinimums(makeGoldenReport(results, run, [], undefined).metrics, minimums)
    const comparison = baseline === undefined ? undefined : compareToBaseline(results, baseline, tolerance)
    const report = makeGoldenReport(results, run, checks, comparison)
    await this.printReport(report)
    if (flags.junit !== undefined) {
      const { formatJunit } = await import('../../cli/golden/junit.js')
      const { saveText } = await import('../../cli/save-body.js')
      await saveText(formatJunit(report), flags.junit)
    }
    const hasAllResults = isComplete(report)
    if (flags['save-baseline'] !== undefined) {
      if (hasAllResults) writeJson(flags['save-baseline'], makeBaseline(results, run))
      else this.out.warn('ks: the baseline was not saved: some questions could not be measured')
    }
    if (!report.passed) throw new ExitWith(EXIT.checkFailed)
    if (!hasAllResults) throw new ExitWith(EXIT.partial)
  }

  private async readFiles(files: string[]): Promise<GoldenCase[]> {
    const { readGoldenCases } = await import('../../cli/golden/file.js')
    return files.flatMap(readGoldenCases)
  }

  private async runQuestions(body: { [Key in keyof CreateGoldenRunBody]?: CreateGoldenRunBody[Key] | undefined }) {
    const { runGoldenQuestions } = await import('../../cli/golden/run.js')
    const { id: spaceId } = await this.space()
    return runGoldenQuestions(await this.client(), {
      spaceId,
      body: omitUndefined(body),
      out: this.out,
      signal: this.deadline.signal,
      onDone: (result) => {
        if (this.out.format === 'jsonl') this.out.event('question', result)
      },
    })
  }

  private async printReport(report: GoldenReport): Promise<void> {
    const { formatGoldenReport } = await import('../../cli/golden/report.js')
    if (this.out.format === 'json') this.out.json(report)
    else if (this.out.format === 'jsonl') {
      const { results: _, ...summary } = report
      this.out.event('done', summary)
    } else if (this.out.format === 'tsv') {
      const metricFields = ['status', 'recall', 'reciprocalRank', 'answerable', 'answer.right']
      const failureFields = ['missing', 'answer.missing', 'answer.forbidden', 'unresolved', 'error']
      const fields = [...metricFields, 'question', ...failureFields]
      await this.out.list(report.results, { columns: fields.map((field) => ({ field })), empty: 'No questions.' })
      const { formatCheck } = await import('../../cli/golden/report.js')
      for (const check of report.checks) this.out.note(formatCheck(check))
    } else for (const line of formatGoldenReport(report)) this.out.line(line)
  }
}

/** Parses a fraction. @throws CliError exit 2 unless it is a number from 0 to 1 */
function parseFraction(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1)) {
    throw usageError(`${name} must be a number from 0 to 1, received ${JSON.stringify(text)}`)
  }
  return value
}
