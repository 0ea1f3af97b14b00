import { Command } from '@oclif/core/command'
import type { Input, ParserOutput } from '@oclif/core/interfaces'
import type { Client } from '../client/client.js'
import { ApiError, ConnectionError } from '../client/errors.js'
import { type LocalDirs, localDirs } from '../local/dirs.js'
import { CliError, ExitWith } from './cli-error.js'
import { asFormat, type Common, commonFlags, LIST_DEFAULT, readCommon } from './common-flags.js'
import { type Place, resolveSettings, type Settings } from './contexts.js'
import type { FilteredOutput } from './filter.js'
import { type Layout, Output, type OutStream } from './output.js'
import type { PagedOutput } from './pager.js'
import type { PromptOptions } from './prompt.js'
import { rememberIds } from './recent-ids.js'
import type { SpaceRef } from './resolve.js'
import { ttyLine } from './terminal.js'
import { refuseSwitchValues } from './usage-errors.js'

/** Parsed values by name. */
type Values = Record<string, unknown>

/** Base of all commands: settings, client, output and prompts, each created at its first use. */
export abstract class BaseCommand extends Command {
  static override baseFlags = commonFlags
  /** Long output is shown in a pager; only for commands that print once and exit. */
  static pages = false

  protected readonly dirs: LocalDirs = localDirs()
  /** Degradation reasons already reported. */
  private readonly lacks = new Set<string>()
  /** Aborts after `--timeout`. */
  protected readonly deadline = new AbortController()
  private parsedCommon: Common | undefined
  private resolved: Settings | undefined
  private output: Output | undefined
  /** The pager or filter between the command and stdout. */
  private paged: PagedOutput | undefined
  private filtered: FilteredOutput | undefined
  private hasFailed = false
  private layout: Layout | undefined
  private connected: Promise<Client> | undefined

  /** Runs the command with the given configuration; oclif's static `run` would load it again. */
  async start(): Promise<void> {
    await this._run()
  }

  /** oclif would load its logger here and look for deprecated commands; there are none. */
  protected override async init(): Promise<void> {}

  protected override async parse<F extends Values, B extends Values, A extends Values>(
    options?: Input<F, B, A>,
    argv?: string[],
  ): Promise<ParserOutput<F, B, A>> {
    // oclif reads absent arguments from stdin; ours are read from there only with `-`.
    for (const arg of Object.values(this.ctor.args)) arg.ignoreStdin = true
    refuseSwitchValues(argv ?? this.argv, { ...this.ctor.baseFlags, ...this.ctor.flags })
    const parsed = await super.parse(options, argv)
    const common = readCommon({ ...parsed.flags }, process.env)
    this.parsedCommon = common
    if (process.stdout.isTTY || process.stderr.isTTY) this.layout = await import('./prose.js')
    await this.prepareStdout(common)
    if (common.timeoutMs !== undefined) this.armTimeout(common.timeoutMs)
    return parsed
  }

  /** The common flags; available after `parse`. */
  protected get common(): Common {
    if (this.parsedCommon === undefined) throw new Error('flags are read before parse()')
    return this.parsedCommon
  }

  protected get settings(): Settings {
    if (this.resolved === undefined) {
      const { context } = this.common
      this.resolved = resolveSettings({ flags: context, env: process.env, cwd: process.cwd(), dirs: this.dirs })
      const { project } = this.resolved
      if (project !== undefined && project.unknown.length > 0) {
        this.out.warn(`ks: ${project.path} may not set ${project.unknown.join(', ')}; it has no effect`)
      }
    }
    return this.resolved
  }

  protected get out(): Output {
    if (this.output === undefined) {
      const { output } = this.common
      const format = output.format ?? this.formatByDefault()
      const { paged } = this
      // Notes on stderr are printed after the paged output.
      const later = {
        write: (text: string) => paged?.later(text) ?? false,
        isTTY: true,
        columns: process.stderr.columns,
      }
      const streams = {
        out: this.between ?? process.stdout,
        err: paged !== undefined && process.stderr.isTTY ? later : process.stderr,
        env: process.env,
        layout: this.layout,
      }
      this.output = new Output({ ...output, format }, streams)
    }
    return this.output
  }

  /** The client of the configured service. */
  protected client(): Promise<Client> {
    this.connected ??= this.open()
    return this.connected
  }

  /** Reconnects: a restarted local daemon may listen at another address. */
  protected async reconnected(): Promise<Client> {
    const before = await this.connected?.catch(() => undefined)
    before?.close()
    this.connected = undefined
    return await this.client()
  }

  /**
   * The space to work in: from `--space`, environment, project or context; by default the only existing space.
   *
   * @throws CliError exit 2 if no space is named and several exist, exit 5 if none exists
   */
  protected async space(): Promise<SpaceRef> {
    const chosen = this.settings.space
    if (chosen !== undefined) return await this.spaceNamed(chosen.value)
    const { onlySpace } = await import('./resolve.js')
    const space = await onlySpace(await this.client())
    return { id: space.id, space }
  }

  protected async spaceNamed(text: string): Promise<SpaceRef> {
    const { resolveSpace } = await import('./resolve.js')
    return await resolveSpace(await this.client(), text)
  }

  /** Resolves a document of the space by its id, the end of its id, or its path. */
  protected async documentNamed(text: string): Promise<{ id: string; documentId: string }> {
    const { id } = await this.space()
    const { resolveDocument } = await import('./resolve.js')
    return { id, documentId: await resolveDocument(await this.client(), id, text, this.dirs.cache) }
  }

  /** Resolves a source of the space by its id or the end of its id. */
  protected async sourceNamed(text: string): Promise<{ id: string; sourceId: string }> {
    const { id } = await this.space()
    const { resolveId } = await import('./resolve.js')
    return { id, sourceId: resolveId('source', text, this.dirs.cache) }
  }

  protected async documentsNamed(words: unknown[]): Promise<{ id: string; documentIds: string[] }> {
    const { id } = await this.space()
    const { resolveDocuments } = await import('./resolve.js')
    const documentIds = await resolveDocuments(await this.client(), id, words.map(String), this.dirs.cache)
    return { id, documentIds }
  }

  /**
   * Converts `--limit`, `--all` and `--cursor` to a range for `paginate`. Without a terminal the default is everything.
   */
  protected range(flags: { limit?: number | undefined; all: boolean; cursor?: string | undefined }) {
    return {
      limit: flags.all ? undefined : (flags.limit ?? (this.out.isTerminal ? LIST_DEFAULT : undefined)),
      cursor: flags.cursor,
    }
  }

  /** Prints a list and a hint how to list more. */
  protected async list<T>(
    items: AsyncGenerator<T, string | undefined>,
    options: Parameters<Output['list']>[1],
  ): Promise<number> {
    return await this.out.list(this.tellingMore(items), options)
  }

  /** Passes items on; reports the cursor on stderr if the list was cut. */
  protected async *tellingMore<T>(items: AsyncGenerator<T, string | undefined>): AsyncGenerator<T> {
    const next = yield* items
    if (next !== undefined) this.out.note(`more: \`--all\`, or \`--cursor ${next}\``)
  }

  protected get prompt(): PromptOptions {
    const terminal = process.stdin.isTTY === true && process.stderr.isTTY === true
    return { yes: this.common.yes, interactive: terminal && !this.common.noInput }
  }

  /** Warns on stderr about the degradation of a reply, once for each reason, and returns the reply. */
  protected tellingLacks<T extends { degradedReasons?: string[] | undefined }>(answer: T): T {
    for (const reason of answer.degradedReasons ?? []) {
      if (!this.lacks.has(reason)) this.out.warn(ttyLine(`ks: degraded: ${reason}`))
      this.lacks.add(reason)
    }
    return answer
  }

  protected override async catch(error: Error): Promise<void> {
    // `ExitWith` carries an exit code only: the output is complete.
    this.hasFailed = !(error instanceof ExitWith)
    const { place } = this.resolved ?? {}
    if (error instanceof ApiError && error.status === 401 && place !== undefined) throw refused(error, place.value)
    throw error
  }

  protected override async finally(): Promise<void> {
    const client = await this.connected?.catch(() => undefined)
    client?.close()
    // Output that was interrupted may have buffered text.
    this.output?.endProse()
    await this.paged?.end()
    if (!this.hasFailed) await this.filtered?.end()
    if (this.output !== undefined) rememberIds(this.dirs.cache, this.output.shortened)
    const theirs = client?.serverVersion
    if (theirs !== undefined && minor(theirs) !== minor(this.config.version)) {
      const { warnOfSkew } = await import('./version-skew.js')
      const warn = (text: string) => this.out.warn(text)
      warnOfSkew({ program: 'ks', stateDir: this.dirs.state, ours: this.config.version, theirs, warn })
    }
  }

  /** The filter or pager between the command and stdout, if any. */
  protected get between(): OutStream | undefined {
    return this.filtered ?? this.paged
  }

  /** Loads the filter of `--jq` and `--template`, or the pager; most commands need neither. */
  private async prepareStdout({ filter, pager }: Common): Promise<void> {
    if (filter !== undefined) {
      const { FilteredOutput } = await import('./filter.js')
      this.filtered = new FilteredOutput(filter, process.stdout)
      return
    }
    const pages = 'pages' in this.ctor && this.ctor.pages === true
    if (!pages || !pager || process.stdout.isTTY !== true) return
    const { PagedOutput, pagerOf } = await import('./pager.js')
    const program = pagerOf(process.env)
    if (program !== undefined) this.paged = new PagedOutput(program, process.stdout)
  }

  private async open(): Promise<Client> {
    const { connect } = await import('./connect.js')
    const { debug, verbose } = this.common
    if (verbose) this.sayWhere()
    return await connect(this.settings.place.value, {
      autostart: this.settings.autostart,
      // Without a timeout nothing aborts the signal.
      ...(this.common.timeoutMs === undefined ? {} : { signal: this.deadline.signal }),
      ...(debug ? { onExchange: (line: string) => this.out.warn(`debug: ${line}`) } : {}),
      onSlowStart: () => {
        if (this.out.isErrTerminal) this.out.note(`Starting the local daemon${this.out.symbols.ellipsis}`)
      },
    })
  }

  /** `--verbose`: prints the service and the space, and where each was configured. */
  private sayWhere(): void {
    const { place, space } = this.settings
    const where = place.value.kind === 'local' ? `the local daemon of ${place.value.dataDir}` : place.value.url
    this.out.warn(`ks: using ${where} (${place.origin})`)
    if (space !== undefined) this.out.warn(`ks: space ${space.value} (${space.origin})`)
  }

  /** The format of the environment or user file. A broken file must not hide the error that ends a command. */
  private formatByDefault() {
    const { format } = this.settings
    return format === undefined ? undefined : asFormat(format.value, format.origin === 'user' ? 'format' : 'KS_FORMAT')
  }

  private armTimeout(ms: number): void {
    const timer = setTimeout(() => {
      this.deadline.abort(new ConnectionError('timeout', `the command took longer than ${ms} ms (--timeout)`))
    }, ms)
    timer.unref()
  }
}

function refused(error: ApiError, place: Place): CliError {
  if (place.kind === 'local') {
    return new CliError(`the local daemon refused the token: ${error.message}`, {
      code: error.code,
      exit: 4,
      hint: place.token === undefined ? '`ks daemon restart` renews it' : 'it came from KS_TOKEN or a token file',
    })
  }
  const whose = place.context === undefined ? 'the token' : `the token of context ${JSON.stringify(place.context)}`
  const flag = place.context === undefined ? `--url ${place.url}` : `--context ${place.context}`
  return new CliError(`${place.url} refused ${whose}: ${error.message}`, {
    code: error.code,
    exit: 4,
    hint: `\`ks auth login ${flag}\``,
  })
}

function minor(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}
