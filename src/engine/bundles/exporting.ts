import type { EngineContext } from '../context.js'
import type { Row } from '../rows/bundles/read.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Snapshot } from '../storage/driver.js'
import type { BundleWriter } from './tar-writer.js'

/** A space that is being exported. */
export interface Exporting {
  snapshot: Snapshot
  writer: BundleWriter
  space: SpaceRow
  signal: AbortSignal
}

/** Yields to foreground work. @throws the reason for which the export was aborted */
export async function pause({ rightOfWay }: EngineContext, signal: AbortSignal): Promise<void> {
  await rightOfWay.giveWay()
  signal.throwIfAborted()
}

/** Writes the objects that rows refer to, each once. */
export async function* objectsOf(context: EngineContext, { writer, signal }: Exporting, rows: readonly Row[]) {
  const seen = new Set<string>()
  for (const { sha256, object_key: key, size_bytes: size } of rows) {
    if (typeof sha256 !== 'string' || typeof key !== 'string' || typeof size !== 'number' || seen.has(sha256)) continue
    seen.add(sha256)
    await pause(context, signal)
    yield* writer.object(sha256, size, bytesOf(context, key))
  }
}

async function* bytesOf({ objects }: EngineContext, key: string): AsyncGenerator<Uint8Array> {
  const handle = await objects.open(key)
  // the stream closes the file, however it ends
  yield* handle.createReadStream()
}
