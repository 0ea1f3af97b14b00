import { Command } from '@oclif/core/command'
import type { Input, ParserOutput } from '@oclif/core/interfaces'
import type { Client } from '../client/client.js'
import { ApiError, markRemote } from '../client/errors.js'
import { reportMore } from '../client/pages.js'
import { EXIT } from '../contract/errors.js'
import type { JsonSchema } from '../contract/json-schema.js'
import { type LocalDirs, resolveLocalDirs } from '../local/dirs.js'
import { ExitWith, usageError } from './cli-error.js'
import { commonFlags, DEFAULT_LIST_LIMIT } from './common-flags.js'
import { type CommonOptions, readCommonOptions, toPromptOptions } from './common-options.js'
import { type CommandSettings, resolveSettings } from './contexts.js'
import { armDeadline } from './deadline.js'
import type { OutputFields } from './json-output/fields.js'
import { Output, type OutStream, type ProseLayout, toJson } from './output.js'
import { getDefaultFormat } from './output-format.js'
import { DIRECT_OUTPUT, type OutputStage, openOutputStage } from './output-stage.js'
import type { PromptOptions } from './prompt.js'
import { saveRecentIds } from './recent-ids.js'
import type { NewestKind, SpaceRef } from './resolve.js'
import { ttyLine } from './terminal.js'
import { rejectBooleanFlagValues } from './usage-errors.js'

type ParsedValues = Record<string, unknown>

/** Base of all commands: settings, client, output and prompts, each created at its first use. */
export abstract class BaseCommand extends Command {
  static override baseFlags = commonFlags
  /** Whether long output is shown in a pager; only for commands that print once and exit. */
  static isPaged = false
  /** Whether the command works on the data directory or daemon of this machine, never on a remote service. */
  static isLocalOnly = false

  protected readonly dirs: LocalDirs = resolveLocalDirs()
  private readonly reportedReasons = new Set<string>()
  /** Aborts after `--timeout`. */
  protected readonly deadline = new AbortController()
  private parsedCommon: CommonOptions | undefined
  private resolvedSettings: CommandSettings | undefined
  private output: Output | undefined
  private stage: OutputStage = DIRECT_OUTPUT
  private hasFailed = false
  private layout: ProseLayout | undefined
  private clientPromise: Promise<Client> | undefined

  /** Runs the command with the given configuration; oclif's static `run` would load it again. */
  async start(): Promise<void> {
    await this._run()
  }

  /** oclif would load its logger here and look for deprecated commands; there are none. */
  protected override async init(): Promise<void> {}

  protected override async parse<F extends ParsedValues, B extends ParsedValues, A extends ParsedValues>(
    options?: Input<F, B, A>,
    argv?: string[],
  ): Promise<ParserOutput<F, B, A>> {
    // oclif reads absent arguments from stdin; ours are read from there only with `-`.
    for (const arg of Object.values(this.ctor.args)) arg.ignoreStdin = true
    const words = argv ?? this.argv
    if (words.includes('--json-schema')) await this.printJsonSchema(words)
    rejectBooleanFlagValues(words, { ...this.ctor.baseFlags, ...this.ctor.flags })
    const parsed = await super.parse(options, argv)
    await this.applyCommonFlags({ ...parsed.flags })
    if ('isLocalOnly' in this.ctor && this.ctor.isLocalOnly === true) this.rejectRemoteService()
    if (this.common.timeoutMs !== undefined) armDeadline(this.deadline, this.common.timeoutMs)
    return parsed
  }

  private async applyCommonFlags(flags: ParsedValues): Promise<void> {
    this.parsedCommon = readCommonOptions(flags, process.env)
    if (process.stdout.isTTY || process.stderr.isTTY) this.layout = await import('./prose.js')
    const isPaged = 'isPaged' in this.ctor && this.ctor.isPaged === true
    this.stage = await openOutputStage(this.parsedCommon, { isPaged })
  }

  /**
   * Prints the schema of the JSON output and ends the command; returns if `--json-schema` is the value of another flag,
   * or after `--`. No argument or flag is required.
   *
   * @throws ExitWith 0, CliError exit 2 if the command prints no JSON
   */
  private async printJsonSchema(words: string[]): Promise<void> {
    const { args, baseFlags, flags, strict } = this.ctor
    const parsed = await super.parse({ args: makeOptional(args), baseFlags, flags: makeOptional(flags), strict }, words)
    if (parsed.flags['json-schema'] !== true) return
    await this.applyCommonFlags(parsed.flags)
    const schema = await this.loadJsonSchema(parsed)
    this.out.raw(`${toJson(schema, { isPretty: this.out.isTerminal })}\n`)
    throw new ExitWith(EXIT.ok)
  }

  /** The schema of the JSON output. @param _parsed the command line, which an output may depend on */
  protected async loadJsonSchema(_parsed: { args: ParsedValues; flags: ParsedValues }): Promise<JsonSchema> {
    const { describeJsonOutput } = await import('./json-output/describe.js')
    return describeJsonOutput(this.ctor.id)
  }

  protected get common(): CommonOptions {
    if (this.parsedCommon === undefined) throw new Error('flags are read before parse()')
    return this.parsedCommon
  }

  protected get settings(): CommandSettings {
    if (this.resolvedSettings === undefined) {
      const { context } = this.common
      this.resolvedSettings = resolveSettings({ flags: context, env: process.env, cwd: process.cwd(), dirs: this.dirs })
      const { project } = this.resolvedSettings
      if (project !== undefined && project.unknown.length > 0) {
        this.out.warn(`ks: ${project.path} may not set ${project.unknown.join(', ')}; it has no effect`)
      }
    }
    return this.resolvedSettings
  }

  protected get out(): Output {
    if (this.output === undefined) {
      const { output } = this.common
      const format = output.format ?? getDefaultFormat(this.settings)
      const streams = {
        out: this.stage.out ?? process.stdout,
        err: this.stage.err ?? process.stderr,
        env: process.env,
        layout: this.layout,
        loadFields: (sample: unknown) => this.loadOutputFields(sample),
      }
      this.output = new Output({ ...output, format }, streams)
    }
    return this.output
  }

  /** The client of the configured service. */
  protected client(): Promise<Client> {
    this.clientPromise ??= this.openClient()
    return this.clientPromise
  }

  /** Reconnects: a restarted local daemon may listen at another address. */
  protected async reconnect(options: { autostart?: boolean } = {}): Promise<Client> {
    const previous = await this.clientPromise?.catch(() => undefined)
    previous?.close()
    this.clientPromise = this.openClient(options)
    return await this.clientPromise
  }

  /**
   * The space to work in: from `--space`, environment, project or context; by default the only existing space.
   *
   * @throws CliError exit 2 if no space is named and several exist, exit 5 if none exists
   */
  protected async space(): Promise<SpaceRef> {
    const selected = this.settings.space
    if (selected !== undefined) return await this.resolveSpace(selected.value)
    const { getOnlySpace } = await import('./resolve.js')
    const space = await getOnlySpace(await this.client())
    return { id: space.id, space }
  }

  /**
   * The spaces of a command that can search several: one like `space()`, those of a repeated `--space`, or undefined for
   * `--all-spaces`.
   */
  protected async spaces(flags: {
    space?: string[] | undefined
    'all-spaces': boolean
  }): Promise<string[] | undefined> {
    if (flags['all-spaces']) return undefined
    const names = new Set(flags.space)
    if (names.size < 2) return [(await this.space()).id]
    const ids = new Set<string>()
    for (const name of names) ids.add((await this.resolveSpace(name)).id)
    return [...ids]
  }

  protected async resolveSpace(text: string): Promise<SpaceRef> {
    const { resolveSpace } = await import('./resolve.js')
    return await resolveSpace(await this.client(), text)
  }

  /** The space that an argument names, otherwise that of `space`. */
  protected async spaceOf(text: string | undefined): Promise<SpaceRef> {
    return text === undefined ? await this.space() : await this.resolveSpace(text)
  }

  /** Resolves an item by its id, the end of its id, or `last` for the newest of the space. */
  protected async resolveIdOrLast(kind: NewestKind, text: string): Promise<string> {
    const { findNewest, resolveId } = await import('./resolve.js')
    if (text !== 'last') return resolveId(kind, text, this.dirs.cache)
    const spaceId = kind === 'research task' && this.settings.space === undefined ? undefined : (await this.space()).id
    return await findNewest(await this.client(), kind, spaceId)
  }

  /** Resolves a document of the space by its id, the end of its id, or its path. */
  protected async resolveDocument(text: string): Promise<{ id: string; documentId: string }> {
    const { id } = await this.space()
    const { resolveDocument } = await import('./resolve.js')
    return { id, documentId: await resolveDocument(await this.client(), id, text, this.dirs.cache) }
  }

  /** Resolves a source of the space by its id or the end of its id. */
  protected async resolveSource(text: string): Promise<{ id: string; sourceId: string }> {
    const { id } = await this.space()
    const { resolveId } = await import('./resolve.js')
    return { id, sourceId: resolveId('source', text, this.dirs.cache) }
  }

  /** Resolves documents of the space, each by its id, the end of its id, or its path. */
  protected async resolveDocuments(names: unknown[]): Promise<{ id: string; documentIds: string[] }> {
    const { id } = await this.space()
    const { resolveDocuments } = await import('./resolve.js')
    const documentIds = await resolveDocuments(await this.client(), id, names.map(String), this.dirs.cache)
    return { id, documentIds }
  }

  /**
   * Converts `--limit`, `--all` and `--cursor` to a range for `paginate`. Without a terminal the default is everything.
   */
  protected getListRange(flags: { limit?: number | undefined; all: boolean; cursor?: string | undefined }) {
    return {
      limit: flags.all ? undefined : (flags.limit ?? (this.out.isTerminal ? DEFAULT_LIST_LIMIT : undefined)),
      cursor: flags.cursor,
    }
  }

  /** Prints a list and a hint how to list more. @returns the number of printed items */
  protected async list<T>(
    items: AsyncGenerator<T, string | undefined>,
    options: Parameters<Output['list']>[1],
  ): Promise<number> {
    return await this.out.list(this.withMoreHint(items), options)
  }

  /** Passes items on; reports the cursor on stderr if the list was cut. */
  protected async *withMoreHint<T>(items: AsyncGenerator<T, string | undefined>): AsyncGenerator<T> {
    yield* reportMore(items, (cursor) =>
      this.out.note(cursor === '' ? 'more: `--all`' : `more: \`--all\`, or \`--cursor ${cursor}\``),
    )
  }

  protected get prompt(): PromptOptions {
    return toPromptOptions(this.common)
  }

  /** Warns on stderr about the degradation of a reply, once for each reason, and returns the reply. */
  protected reportDegradation<T extends { degradedReasons?: string[] | undefined }>(reply: T): T {
    for (const reason of reply.degradedReasons ?? []) {
      if (!this.reportedReasons.has(reason)) this.out.warn(ttyLine(`ks: incomplete: ${reason}`))
      this.reportedReasons.add(reason)
    }
    return reply
  }

  protected override async catch(error: Error): Promise<void> {
    // `ExitWith` carries an exit code only: the output is complete.
    this.hasFailed = !(error instanceof ExitWith)
    const { service } = this.resolvedSettings ?? {}
    if (service?.value.kind === 'remote') markRemote(error, service.value.url)
    if (error instanceof ApiError && error.status === 401 && service !== undefined) {
      const { toTokenError } = await import('./token-error.js')
      throw toTokenError(error, service.value)
    }
    throw error
  }

  protected override async finally(): Promise<void> {
    const client = await this.clientPromise?.catch(() => undefined)
    client?.close()
    const fieldError = await this.endOutput()
    await this.stage.end({ hasFailed: this.hasFailed || fieldError !== undefined })
    if (this.output !== undefined) saveRecentIds(this.dirs.cache, this.output.shortenedIds)
    const serverVersion = client?.serverVersion
    if (serverVersion !== undefined && getMinorVersion(serverVersion) !== getMinorVersion(this.config.version)) {
      const { warnAboutVersionSkew } = await import('./version-skew.js')
      warnAboutVersionSkew({
        program: 'ks',
        stateDir: this.dirs.state,
        ownVersion: this.config.version,
        serviceVersion: serverVersion,
        warn: (text) => this.out.warn(text),
      })
    }
    if (fieldError !== undefined && !this.hasFailed) throw fieldError
  }

  /** Prints what an interrupted command has buffered. @returns the error of an unknown field of `--fields` */
  private async endOutput(): Promise<unknown> {
    try {
      await this.output?.end()
      return undefined
    } catch (error) {
      return error
    }
  }

  /** The filter or pager between the command and stdout, if any. */
  protected get outputStage(): OutStream | undefined {
    return this.stage.out
  }

  private async loadOutputFields(sample: unknown): Promise<OutputFields> {
    const { readOutputFields } = await import('./json-output/fields.js')
    return readOutputFields(this.ctor.id, sample)
  }

  private async openClient({ autostart = true }: { autostart?: boolean } = {}): Promise<Client> {
    const { connect } = await import('./connect.js')
    const { debug, verbose } = this.common
    if (verbose) this.reportService()
    return await connect(this.settings.service.value, {
      autostart: autostart && this.settings.autostart,
      // Without a timeout nothing aborts the signal.
      ...(this.common.timeoutMs === undefined ? {} : { signal: this.deadline.signal }),
      ...(debug ? { onExchange: (line: string) => this.out.warn(`debug: ${line}`) } : {}),
      onSlowStart: () => {
        if (this.out.isErrTerminal) this.out.note(`Starting the local daemon${this.out.symbols.ellipsis}`)
      },
    })
  }

  /** @throws CliError exit 2 */
  private rejectRemoteService(): void {
    const service = this.settings.service.value
    if (service.kind === 'local') return
    const command = `ks ${(this.id ?? '').replaceAll(':', ' ')}`
    const context = service.context === undefined ? '' : ` (context ${JSON.stringify(service.context)})`
    throw usageError(
      `\`${command}\` works on the data of this machine, but the selected service is ${service.url}${context}`,
      '`--context local` selects the local daemon',
    )
  }

  /** `--verbose`: prints the service and the space, and where each was configured. */
  private reportService(): void {
    const { service, space } = this.settings
    const address = service.value.kind === 'local' ? `the local daemon of ${service.value.dataDir}` : service.value.url
    this.out.warn(`ks: using ${address} (${service.origin})`)
    if (space !== undefined) this.out.warn(`ks: space ${space.value} (${space.origin})`)
  }
}

function getMinorVersion(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}

/** Arguments or flags of which none is required. A command may declare none. */
function makeOptional<T extends object>(definitions: Readonly<Record<string, T>> = {}): Record<string, T> {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, { ...definition, required: false }]),
  )
}
