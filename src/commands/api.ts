import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { type ApiFields, parseApiFields } from '../cli/api/fields.js'
import { addQuery, buildApiRequest } from '../cli/api/request.js'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { outputFlag, spaceFlag } from '../cli/common-flags.js'
import { readInputFile } from '../cli/input-file.js'
import { localPath } from '../cli/local-path.js'
import { toJson } from '../cli/output.js'
import { resolveId } from '../cli/resolve.js'
import { saveBody } from '../cli/save-body.js'
import { readStdin } from '../cli/stdin.js'
import { toApiError } from '../client/client.js'
import { type HttpRequest, readText } from '../client/http.js'
import type { JsonSchema } from '../contract/json-schema.js'
import type { RouteDefinition } from '../contract/route.js'
import { isRecord } from '../lib/json/values.js'

const FIELD = { multiple: true, multipleNonGreedy: true, helpValue: 'key=value' } as const

/** Fields of a page with the start of the next one, and the parameters that take it. */
const NEXT_PAGE = { nextCursor: 'cursor', nextOffset: 'offset', nextFrom: 'from' } as const

export default class Api extends BaseCommand {
  static override summary = 'call an operation of the service by its name, or by method and path'
  static override description =
    'Fields go to the path, the query or the body, as the operation has it. The space of a path is that of `--space`, or the configured one.'
  static override examples = [
    '<%= config.bin %> api listStagedCommits --space example-space -f status=failed-terminal --paginate',
    '<%= config.bin %> api materializeTopic --space example-space -f topicName="Data retention"',
    '<%= config.bin %> api --list retention',
    '<%= config.bin %> api updateSpaceRetentionPolicy --describe',
    '<%= config.bin %> api POST /knowledge-spaces -F name=Example -F slug=example-space',
    '<%= config.bin %> api POST /queries --input question.json',
  ]
  static override args = {
    operation: Args.string({ description: 'name of an operation, a path, or a method before a path' }),
    path: Args.string({ description: 'path after a method' }),
  }
  static override flags = {
    ...spaceFlag,
    field: Flags.string({
      ...FIELD,
      char: 'F',
      description: 'field; numbers, true, false and null keep their type, @file is the content of a file',
    }),
    'raw-field': Flags.string({ ...FIELD, char: 'f', description: 'field as text' }),
    input: Flags.string({ ...localPath, helpValue: 'file', description: 'file with the JSON body; - reads stdin' }),
    paginate: Flags.boolean({ description: 'read all pages; print one item per line' }),
    ...outputFlag,
    list: Flags.boolean({ description: 'list the operations, or those that contain the given word' }),
    describe: Flags.boolean({ description: 'show the fields of the operation instead of calling it' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Api)
    if (flags.list) return await this.listOperations(args.operation)
    if (args.operation === undefined)
      throw usageError('`ks api` needs an OPERATION, or a METHOD and a PATH', '`ks api --list` lists the operations')
    const isPath = args.path !== undefined || args.operation.startsWith('/')
    const route = isPath ? undefined : (await import('../cli/api/operations.js')).findOperation(args.operation)
    if (flags.describe) return await this.describeOperation(args.operation, route)
    const input = flags.input === undefined ? undefined : await this.readBody(flags.input)
    const fields = parseApiFields(flags.field ?? [], flags['raw-field'] ?? [])
    const [method, path] = args.path === undefined ? [undefined, args.operation] : [args.operation, args.path]
    const request =
      route === undefined
        ? buildApiRequest({ method, path, fields, input })
        : await this.buildRequest(route, fields, input)
    await this.send(request, flags)
  }

  /** The schema of the reply if an operation is named, otherwise that of `--list` and `--describe`. */
  protected override async loadJsonSchema(parsed: Parameters<BaseCommand['loadJsonSchema']>[0]): Promise<JsonSchema> {
    const { args, flags } = parsed
    const { operation, path } = args
    if (typeof operation !== 'string' || flags.list === true || flags.describe === true)
      return await super.loadJsonSchema(parsed)
    if (path !== undefined || operation.startsWith('/'))
      throw usageError('--json-schema needs the name of an operation', '`ks api --list` lists the operations')
    const { describeReply } = await import('../cli/json-output/describe.js')
    return describeReply(operation)
  }

  private async listOperations(word: string | undefined): Promise<void> {
    const { listOperations } = await import('../cli/api/operations.js')
    await this.out.list(listOperations(word), {
      columns: [{ field: 'id', title: 'OPERATION' }, { field: 'method' }, { field: 'path' }, { field: 'summary' }],
      empty: `No operation contains ${JSON.stringify(word)}.`,
    })
  }

  private async describeOperation(name: string, route: RouteDefinition | undefined): Promise<void> {
    if (route === undefined) throw usageError('--describe needs the name of an operation', `\`ks api --list ${name}\``)
    const { describeOperation, toOperationDocument } = await import('../cli/api/describe.js')
    if (this.out.isJson) return this.out.json(toOperationDocument(route, this.config.version))
    for (const line of describeOperation(route, this.config.version)) this.out.line(line)
  }

  private async readBody(input: string): Promise<string> {
    return input === '-' ? await readStdin('the body') : readInputFile(input, 'the body')
  }

  /** Completes the fields of an operation: the id of the space, and the ends of ids that a table showed. */
  private async buildRequest(
    route: RouteDefinition,
    given: ApiFields,
    input: string | undefined,
  ): Promise<HttpRequest> {
    const { buildOperationRequest, listParameters } = await import('../cli/api/operations.js')
    const fields = { ...given }
    const parameters = listParameters(route)
    for (const { name } of parameters.filter(({ in: location }) => location === 'path')) {
      const value = fields[name]
      if (typeof value === 'string' && value.startsWith('#')) fields[name] = resolveId(name, value, this.dirs.cache)
    }
    const spaceField = route.path.startsWith('/knowledge-spaces/{id}') ? 'id' : 'knowledgeSpaceId'
    const parameter = parameters.find(({ name }) => name === spaceField)
    const isInBody = parameter?.in === 'body' && input !== undefined
    if (parameter?.required === true && fields[spaceField] === undefined && !isInBody)
      fields[spaceField] = (await this.space()).id
    return buildOperationRequest(route, fields, input)
  }

  private async send(
    request: HttpRequest,
    { paginate, output }: { paginate: boolean; output?: string | undefined },
  ): Promise<void> {
    if (paginate) return await this.printPages(request)
    const client = await this.client()
    const response = await client.sendRaw(request)
    if (response.status >= 400) throw await toApiError(response.body)
    await saveBody(response.body, output, this.outputStage)
    const type = String(response.headers['content-type'] ?? '')
    if (output === undefined && this.out.isTerminal && type.includes('json')) this.out.raw('\n')
  }

  private async printPages(request: HttpRequest): Promise<void> {
    const client = await this.client()
    for (let next: ApiFields | undefined = {}; next !== undefined; ) {
      const response = await client.sendRaw({ ...request, path: replaceQuery(request.path, next) })
      if (response.status >= 400) throw await toApiError(response.body)
      const page: unknown = JSON.parse(await readText(response.body))
      const items = isRecord(page) && Array.isArray(page.items) ? page.items : [page]
      for (const item of items) this.out.raw(`${toJson(item)}\n`)
      next = getNextPage(page)
    }
  }
}

function replaceQuery(path: string, fields: ApiFields): string {
  const url = new URL(path, 'http://localhost')
  for (const key of Object.keys(fields)) url.searchParams.delete(key)
  return addQuery(url.pathname + url.search, fields)
}

function getNextPage(page: unknown): ApiFields | undefined {
  if (!isRecord(page)) return undefined
  for (const [field, parameter] of Object.entries(NEXT_PAGE)) {
    const value = page[field]
    if (value !== undefined && value !== null && value !== '') return { [parameter]: value }
  }
  return undefined
}
