import { z } from 'zod'
import { count, isoDateTime, slug, uuid } from '../../contract/primitives.js'

export const AliasRow = z.strictObject({ name: z.string(), command: z.string() })
export type AliasRow = z.output<typeof AliasRow>

/** One setting with its effective value. */
export const SettingRow = z.strictObject({
  name: z.string(),
  value: z.string(),
  origin: z.string(),
  about: z.string(),
})
export type SettingRow = z.output<typeof SettingRow>

export const SettingPaths = z.strictObject({
  config: z.string(),
  credentials: z.string(),
  programs: z.string(),
  daemonConfig: z.string(),
  data: z.string(),
  state: z.string(),
  cache: z.string(),
  project: z.string().exactOptional(),
})
export type SettingPaths = z.output<typeof SettingPaths>

export const ContextRow = z.strictObject({
  name: z.string(),
  url: z.string(),
  space: z.string().optional(),
  current: z.boolean(),
})
export type ContextRow = z.output<typeof ContextRow>

export const AddedContext = z.strictObject({ name: z.string(), url: z.string(), space: z.string().exactOptional() })
export type AddedContext = z.output<typeof AddedContext>

const settingOrigin = z.enum(['flag', 'environment', 'project', 'user', 'default'])
const selection = {
  chosenBy: settingOrigin,
  space: z.string().exactOptional(),
  spaceChosenBy: settingOrigin.exactOptional(),
  projectFile: z.string().exactOptional(),
}
export const CurrentContext = z.union([
  z.strictObject({ context: z.literal('local'), dataDir: z.string(), ...selection }),
  z.strictObject({ context: z.string().optional(), url: z.string(), hasToken: z.boolean(), ...selection }),
])
export type CurrentContext = z.output<typeof CurrentContext>

/** The result of one check of this installation. */
export const CheckFinding = z.strictObject({
  check: z.string(),
  state: z.enum(['ok', 'warning', 'failed']),
  found: z.string(),
  fix: z.string().exactOptional().describe('how to fix a problem'),
})
export type CheckFinding = z.output<typeof CheckFinding>

export const LanguageRow = z.strictObject({ language: z.string(), usedBy: z.string() })
export type LanguageRow = z.output<typeof LanguageRow>

export const ConsoleOutput = z.strictObject({
  url: z.string(),
  signedIn: z.boolean(),
  sessionId: z.string().exactOptional(),
})
export type ConsoleOutput = z.output<typeof ConsoleOutput>

export const StoredLogin = z.strictObject({ origin: z.string(), stored: z.literal(true) })
export type StoredLogin = z.output<typeof StoredLogin>
export const DeletedLogin = z.strictObject({ origin: z.string(), deleted: z.literal(true) })
export type DeletedLogin = z.output<typeof DeletedLogin>

/** The token in use; its claims are absent if it cannot be decoded. */
export const TokenStatus = z.strictObject({
  service: z.string().describe('local, or the address of the service'),
  dataDir: z.string().exactOptional(),
  chosenBy: settingOrigin,
  subject: z.string().exactOptional(),
  tenant: z.string().exactOptional(),
  scope: z.string().exactOptional(),
  id: z.string().exactOptional(),
  expiresAt: isoDateTime.exactOptional(),
  accepted: z.boolean(),
})
export type TokenStatus = z.output<typeof TokenStatus>

export const CreatedTokenOutput = z.strictObject({ token: z.string(), jti: z.string(), expiresAt: isoDateTime })
export const RevokedToken = z.strictObject({ jti: z.string(), revoked: z.literal(true) })
export type RevokedToken = z.output<typeof RevokedToken>

export const BackupOutput = z.strictObject({
  snapshot: z.string(),
  createdAt: isoDateTime,
  objects: count,
  bytes: count,
  alreadyThere: count.describe('number of objects that an earlier snapshot had copied'),
  addedBytes: count,
  diskBytes: count.describe('bytes of all snapshots on the disk'),
  missing: z.array(z.string()).describe('keys of objects that are missing or damaged'),
})
export type BackupOutput = z.output<typeof BackupOutput>

export const RestoreOutput = z.strictObject({
  snapshot: z.string(),
  createdAt: isoDateTime,
  dataDir: z.string(),
  objects: count,
  spaces: count,
  issues: z.array(
    z.strictObject({
      space: slug,
      severity: z.enum(['info', 'warning', 'error', 'critical']),
      code: z.string(),
      message: z.string(),
    }),
  ),
})
export type RestoreOutput = z.output<typeof RestoreOutput>

export const ExportedBundle = z.strictObject({ file: z.string(), bytes: count, spaces: z.array(uuid) })
export type ExportedBundle = z.output<typeof ExportedBundle>

const shell = z.enum(['bash', 'zsh', 'fish'])
export const CompletionInstallation = z.strictObject({
  shell,
  written: z.array(z.strictObject({ path: z.string(), backup: z.string().optional() })),
  dryRun: z.boolean(),
  toDo: z.string().nullable(),
})
export type CompletionInstallation = z.output<typeof CompletionInstallation>
export const CompletionRemoval = z.strictObject({ shell, removed: z.array(z.string()), dryRun: z.boolean() })
export type CompletionRemoval = z.output<typeof CompletionRemoval>

export const UninstallOutput = z.strictObject({
  dryRun: z.boolean(),
  removed: z.array(
    z.strictObject({ kind: z.enum(['service', 'daemon', 'completion', 'mcp', 'data']), path: z.string() }),
  ),
  kept: z.array(z.string()).describe('folders with files that ks did not write'),
  packageRemoval: z.string().describe('command that removes the package itself'),
})
export type UninstallOutput = z.output<typeof UninstallOutput>

/** The entry of the server in the configuration of an MCP client. */
export const McpEntryChange = z.strictObject({
  client: z.string(),
  path: z.string(),
  changes: z.boolean(),
  text: z.string().nullable().exactOptional().describe('new content of the file, with --dry-run'),
  backup: z.string().nullable().exactOptional().describe('copy of the previous content'),
})
export type McpEntryChange = z.output<typeof McpEntryChange>

/** A deleted resource. */
export const Deletion = z.strictObject({ id: z.string(), deleted: z.literal(true) })
export type Deletion = z.output<typeof Deletion>
export const SpaceDeletion = Deletion.extend({ slug })
export type SpaceDeletion = z.output<typeof SpaceDeletion>

export const ScriptOutput = z.strictObject({ exitCode: count, lines: z.array(z.string()) })
export type ScriptOutput = z.output<typeof ScriptOutput>

const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
export const OperationRow = z.strictObject({ id: z.string(), method, path: z.string(), summary: z.string() })
export type OperationRow = z.output<typeof OperationRow>
