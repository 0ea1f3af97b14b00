import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { getCredentialsPath } from '../cli/credentials.js'
import {
  getDaemonConfigPath,
  listDaemonSettings,
  readConfiguredPrograms,
  setDaemonSetting,
  toUnknownSettingError,
} from '../cli/daemon-config.js'
import { listEffectiveDefaults } from '../cli/effective-config.js'
import type { SettingPaths } from '../cli/json-output/machine.js'
import { confirm } from '../cli/prompt.js'
import {
  checkDefaultValue,
  getUserConfigPath,
  isDefaultKey,
  listDefaultKeys,
  readUserConfig,
  writeUserConfig,
} from '../cli/user-config.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import {
  allowPrograms,
  findDisallowedPrograms,
  getProgramsPath,
  readAllowedPrograms,
} from '../local/allowed-programs.js'

export default class Config extends BaseCommand {
  static override isPaged = true
  static override summary = 'list settings, or print, change or reset one'
  static override description =
    'A data directory may come from another person. Programs in its config.json are started only after they are allowed on this machine: by `--allow-programs`, or by `ks config providers … --daemon`.'
  static override examples = [
    '<%= config.bin %> config space example-space',
    '<%= config.bin %> config compilation inline --daemon',
    '<%= config.bin %> config space --unset',
    '<%= config.bin %> config listen --daemon',
    '<%= config.bin %> config --daemon --origin',
    '<%= config.bin %> config --path',
  ]
  static override args = {
    key: Args.string({ description: 'name of the setting' }),
    value: Args.string({ description: 'new value; lists and objects of the daemon as JSON' }),
  }
  static override flags = {
    daemon: Flags.boolean({ description: 'settings of the local daemon' }),
    origin: Flags.boolean({ description: 'show the origin of each value' }),
    unset: Flags.boolean({ description: 'reset the setting to its default' }),
    path: Flags.boolean({ description: 'print the paths of settings and data' }),
    'allow-programs': Flags.boolean({
      description: "allow the daemon to start the programs in its data directory's config.json",
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Config)
    const { key, value } = args
    if (flags.path) return this.printPaths()
    if (flags['allow-programs']) return await this.allowPrograms()
    if (key === undefined) {
      if (flags.unset) throw usageError('--unset needs KEY', '`ks config` lists the settings')
      return await this.listSettings(flags)
    }
    if (flags.unset && value !== undefined) throw usageError('--unset takes no value')
    if (!flags.unset && value === undefined) return this.printSetting(key, flags)
    if (flags.daemon) this.changeDaemonSetting(key, value)
    else this.changeDefault(key, value)
  }

  private listRows({ daemon }: { daemon: boolean }) {
    return daemon ? listDaemonSettings(this.dirs.data, process.env) : listEffectiveDefaults(this.settings)
  }

  private async listSettings(flags: { daemon: boolean; origin: boolean }): Promise<void> {
    await this.out.list(this.listRows(flags), {
      columns: [{ field: 'name' }, { field: 'value' }, ...(flags.origin ? [{ field: 'origin' }] : [])],
      empty: '',
    })
  }

  private printSetting(key: string, flags: { daemon: boolean }): void {
    const rows = this.listRows(flags)
    const row = rows.find((candidate) => candidate.name === key)
    if (row === undefined)
      throw toUnknownSettingError(
        key,
        rows.map((candidate) => candidate.name),
      )
    if (this.out.isJson) this.out.json(row)
    else this.out.line(row.value)
  }

  private changeDaemonSetting(key: string, value: string | undefined): void {
    setDaemonSetting(this.dirs.data, key, value)
    // A program that the user types here is allowed on this machine.
    if (value !== undefined && (key === 'providers' || key === 'converters'))
      allowPrograms(this.dirs.config, readConfiguredPrograms(this.dirs.data))
    this.out.note('hint: `ks daemon restart` applies it')
  }

  private changeDefault(key: string, value: string | undefined): void {
    if (!isDefaultKey(key)) throw toUnknownSettingError(key, listDefaultKeys())
    const config = readUserConfig(this.dirs.config)
    if (value === undefined) delete config.defaults[key]
    else config.defaults[key] = checkDefaultValue(key, value)
    writeUserConfig(this.dirs.config, config)
  }

  private printPaths(): void {
    const { project } = this.settings
    this.out.record({
      config: getUserConfigPath(this.dirs.config),
      credentials: getCredentialsPath(this.dirs.config),
      programs: getProgramsPath(this.dirs.config),
      daemonConfig: getDaemonConfigPath(this.dirs.data),
      data: this.dirs.data,
      state: this.dirs.state,
      cache: this.dirs.cache,
      ...omitUndefined({ project: project?.path }),
    } satisfies SettingPaths)
  }

  private async allowPrograms(): Promise<void> {
    const disallowed = findDisallowedPrograms(
      readConfiguredPrograms(this.dirs.data),
      readAllowedPrograms(this.dirs.config),
    )
    if (disallowed.length === 0) return this.out.note('All programs in config.json are allowed.')
    for (const argv of disallowed) this.out.line(JSON.stringify(argv))
    const description = disallowed.length === 1 ? 'this program' : `these ${disallowed.length} programs`
    if (!(await confirm(`allowing the daemon to start ${description}`, this.prompt)))
      return this.out.note('Nothing was allowed.')
    allowPrograms(this.dirs.config, disallowed)
    this.out.note('hint: `ks daemon restart` applies it')
  }
}
