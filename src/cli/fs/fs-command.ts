import { BaseCommand } from '../base-command.js'
import { resolveVirtualPath } from '../fs-path.js'
import { FsReader } from './reader.js'

/** Base of the commands that read the virtual file system. */
export abstract class FsCommand extends BaseCommand {
  private fsReader: FsReader | undefined

  protected async reader(): Promise<FsReader> {
    if (this.fsReader === undefined) {
      const { id } = await this.space()
      this.fsReader = new FsReader({
        client: await this.client(),
        spaceId: id,
        report: (reply) => this.reportDegradation(reply),
      })
    }
    return this.fsReader
  }

  /** The paths that words of the command line name, with wildcards expanded. */
  protected async expandPaths(words: readonly unknown[]): Promise<string[]> {
    const paths = words.map((word) => resolveVirtualPath(String(word)))
    const reader = await this.reader()
    const expanded: string[] = []
    for (const path of paths) expanded.push(...(await reader.expand(path)))
    return expanded
  }
}
