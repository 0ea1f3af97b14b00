import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { ensureSpace } from '../cli/ensure-space.js'
import { gatherFiles } from '../cli/ingest/gather.js'
import { ingestFiles, toIngestFailure } from '../cli/ingest/session.js'
import type { QuickstartOutput } from '../cli/json-output/answers.js'
import type { IngestRecord } from '../cli/json-output/documents.js'
import { localPath } from '../cli/local-path.js'
import { getProtectedFiles } from '../cli/own-files.js'
import { toAnswerJson } from '../cli/query/answer-json.js'
import { askQuestion, type QueryAnswer } from '../cli/query/ask.js'
import { formatCitations, selectCitedEvidence } from '../cli/query/evidence.js'
import { formatFooter } from '../cli/query/footer.js'
import { formatIngestedDocuments, listNextSteps, makeQuestion, makeQuickstartPlan } from '../cli/quickstart.js'
import { EXIT } from '../contract/errors.js'

export default class Quickstart extends BaseCommand {
  static override summary = 'create a space, ingest a folder and ask a question'
  static override examples = [
    '<%= config.bin %> quickstart',
    '<%= config.bin %> quickstart ./docs --question "how do I install it?"',
  ]
  static override args = {
    path: Args.string({ ...localPath, description: 'folder or file (default: the documentation of this program)' }),
  }
  static override flags = {
    space: Flags.string({ char: 's', helpValue: 'slug', description: 'space to use (default: from the folder name)' }),
    question: Flags.string({ helpValue: 'text', description: 'question to ask' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Quickstart)
    const plan = makeQuickstartPlan(args.path, flags.space)
    const gathered = await gatherFiles(plan.paths, {
      listOnStdin: false,
      nul: false,
      name: undefined,
      glob: [],
      ignore: this.settings.ignore,
      ignoreFiles: true,
      hidden: false,
      protectedFiles: getProtectedFiles(this.dirs, this.common.context.tokenFile),
    })
    if (gathered.files.length === 0)
      throw usageError(`${args.path ?? plan.paths.join(', ')} contains no files to ingest`)
    const client = await this.client()
    const space = await ensureSpace(client, plan.slug)
    const isProse = !this.out.isJson
    if (isProse) this.out.line(`Space      ${space.slug}${space.created ? ' (new)' : ''}`)
    const records = await ingestFiles(gathered, {
      client,
      reconnect: (options) => this.reconnect(options),
      out: this.out,
      spaceId: space.id,
      stateDir: this.dirs.state,
      service: this.settings.service.value,
      concurrency: 4,
      wait: true,
      failFast: false,
      dryRun: false,
      filesStay: true,
      deadline: this.deadline.signal,
      report: false,
    })
    if (isProse) this.out.line(`Documents  ${formatIngestedDocuments(records)}`)
    this.printFailures(records)
    // A daemon that restarted meanwhile has another client.
    const current = await this.client()
    const question = flags.question ?? plan.question ?? (await makeQuestion(current, space.id))
    if (question === undefined) throw usageError('none of the documents could be read', '`ks docs` lists them')
    if (isProse) this.out.line(`Question   ${question}\n`)
    const answer = await askQuestion(
      current,
      { knowledgeSpaceId: space.id, query: question },
      {
        onDelta: (text) => (isProse ? this.out.prose(text) : undefined),
      },
    )
    if (isProse) await this.printAnswer(answer, space.slug)
    else {
      const answerJson = toAnswerJson(answer, { url: client.transport.target.url, space: space.slug })
      const { slug, created } = space
      this.out.json({ space: slug, created, files: records, question, ...answerJson } satisfies QuickstartOutput)
    }
  }

  private printFailures(records: IngestRecord[]): void {
    const failure = toIngestFailure(records)
    if (failure === undefined) return
    if (failure.exit === EXIT.failed) throw failure
    for (const line of [failure.message, ...failure.details]) this.out.note(line)
  }

  private async printAnswer(answer: QueryAnswer, slug: string): Promise<void> {
    const cited = selectCitedEvidence(answer)
    this.out.endProse()
    this.out.line(answer.answer.endsWith('\n') ? '' : '\n')
    for (const line of await formatCitations(cited, { unicode: this.out.unicode })) this.out.line(line)
    this.out.note(`\n${formatFooter(answer, this.out.symbols, this.out.shortenId(answer.traceId))}\n\nTry next:`)
    for (const step of listNextSteps(slug, cited)) this.out.note(`  ${step}`)
  }
}
