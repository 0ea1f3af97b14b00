import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { readArgumentText } from '../../cli/argument-words.js'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { expectFlags, readExpectedAnswer } from '../../cli/golden/expect-flags.js'
import { readGoldenFile } from '../../cli/golden-file.js'
import type { GoldenImport } from '../../cli/json-output/quality.js'
import { localPath } from '../../cli/local-path.js'
import { GOLDEN_COLUMNS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { paginate } from '../../client/pages.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const REPEATABLE = { multiple: true, multipleNonGreedy: true } as const

type GoldenTraceFlags = Parameters<typeof readExpectedAnswer>[0] & {
  tag?: string[] | undefined
  note?: string | undefined
}

export default class GoldenAdd extends BaseCommand {
  static override summary = 'add a golden question: typed, from a file, or from a query with a bad result'
  static override description = 'Questions of a file that exist already are skipped.'
  static override examples = [
    '<%= config.bin %> golden add "How long are traces kept?" --expect \'#9f31c2aa\' --tag retention --space example-space',
    '<%= config.bin %> golden add "How long is the notice?" --expect-answer "four weeks" --expect-not "two weeks" --space example-space',
    '<%= config.bin %> golden add --file golden.jsonl --space example-space',
    '<%= config.bin %> golden add --trace \'#9f31c2aa\' --note "cites the old policy" --tag policy',
  ]
  static override strict = false
  static override args = { question: Args.string({ description: 'question text; - reads stdin' }) }
  static override flags = {
    ...spaceFlag,
    expect: Flags.string({
      ...REPEATABLE,
      helpValue: 'id',
      description: 'id of a passage that answers it; repeatable',
    }),
    ...expectFlags,
    tag: Flags.string({ ...REPEATABLE, helpValue: 'tag', description: 'tag; repeatable' }),
    file: Flags.string({
      ...localPath,
      helpValue: 'file',
      description: 'JSON Lines file with one golden question per line; - reads stdin',
      exclusive: ['trace', 'expect', 'tag', ...Object.keys(expectFlags)],
    }),
    trace: Flags.string({ helpValue: 'id|last', description: 'query whose question and evidence are taken' }),
    note: Flags.string({
      aliases: ['reason'],
      helpValue: 'text',
      description: 'what is wrong with the result of the query',
      dependsOn: ['trace'],
    }),
  }

  async run(): Promise<void> {
    const { args, raw, flags } = await this.parse(GoldenAdd)
    const sources = [args.question, flags.file, flags.trace].filter((source) => source !== undefined)
    if (sources.length !== 1) throw usageError('`ks golden add` needs one of QUESTION, `--file` and `--trace`')
    if (flags.file !== undefined) return await this.addFromFile(flags.file)
    if (flags.trace !== undefined) return await this.addFromTrace(flags.trace, flags)
    const { id } = await this.space()
    const question = await readArgumentText(raw, 'the question')
    const client = await this.client()
    const added = await client.request('POST /knowledge-spaces/{id}/golden-questions', {
      path: { id },
      body: {
        question,
        expectedEvidenceIds: (flags.expect ?? []).map((passageId) => resolveId('passage', passageId, this.dirs.cache)),
        tags: flags.tag ?? [],
        ...omitUndefined({ expect: readExpectedAnswer(flags) }),
      },
    })
    this.out.record(added, { columns: GOLDEN_COLUMNS })
  }

  private async addFromFile(file: string): Promise<void> {
    const lines = await readGoldenFile(file)
    const { id } = await this.space()
    const client = await this.client()
    const existing = new Set<string>()
    const stored = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/golden-questions', { path: { id }, query }),
      { pageSize: 1000 },
    )
    for await (const { question } of stored) existing.add(question)
    let imported = 0
    for (const { line, ...body } of lines) {
      if (existing.has(body.question)) continue
      try {
        await client.request('POST /knowledge-spaces/{id}/golden-questions', { path: { id }, body })
      } catch (error) {
        this.out.warn(`ks: stopped at line ${line} of ${lines.at(-1)?.line ?? line}; ${imported} were imported`)
        throw error
      }
      existing.add(body.question)
      imported += 1
    }
    this.out.record({ imported, skipped: lines.length - imported } satisfies GoldenImport)
  }

  private async addFromTrace(text: string, flags: GoldenTraceFlags): Promise<void> {
    const traceId = await this.resolveIdOrLast('trace', text)
    const client = await this.client()
    const { knowledgeSpaceId: id } = await client.request('GET /queries/{traceId}', { path: { traceId } })
    const question = await client.request('POST /knowledge-spaces/{id}/production-bad-cases', {
      path: { id },
      body: {
        traceId,
        tags: flags.tag ?? [],
        ...omitUndefined({ reason: flags.note, expect: readExpectedAnswer(flags) }),
      },
    })
    this.out.record(question, { columns: GOLDEN_COLUMNS })
    if (this.out.format === 'table') this.out.note('hint: `ks golden update ID --relevant` marks relevant evidence')
  }
}
