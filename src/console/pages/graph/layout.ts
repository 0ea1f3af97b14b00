import type { Laid, ToLay } from './to-lay.js'

/** Computes a layout in a separate worker. @returns function that aborts it */
export function layOut(what: ToLay, onLaid: (laid: Laid) => void): () => void {
  const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<Laid>) => {
    onLaid(data)
    if (data.isLast) worker.terminate()
  })
  worker.postMessage(what)
  return () => worker.terminate()
}
