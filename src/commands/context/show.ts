import { BaseCommand } from '../../cli/base-command.js'
import { defined } from '../../lib/defined.js'

export default class ContextShow extends BaseCommand {
  static override summary = 'show the service that commands use here, and why'
  static override examples = ['<%= config.bin %> context show']

  async run(): Promise<void> {
    await this.parse(ContextShow)
    const { place, space, project } = this.settings
    const where =
      place.value.kind === 'local'
        ? { context: 'local', dataDir: place.value.dataDir }
        : { context: place.value.context, url: place.value.url, hasToken: place.value.token !== undefined }
    this.out.record({
      ...where,
      chosenBy: place.origin,
      ...defined({ space: space?.value, spaceChosenBy: space?.origin, projectFile: project?.path }),
    })
  }
}
