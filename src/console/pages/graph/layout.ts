/** What a layout begins with, by the place of each node. */
export interface ToLay {
  x: number[]
  y: number[]
  size: number[]
  edges: [from: number, to: number, weight: number][]
  /** of a picture by groups: the group of each node, -1 for none; the first node of a group is its middle */
  groups?: number[]
}

export interface Laid {
  x: number[]
  y: number[]
  isLast: boolean
}

/** Lays out in a worker of its own. @returns what ends it */
export function layOut(what: ToLay, onLaid: (laid: Laid) => void): () => void {
  const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<Laid>) => {
    onLaid(data)
    if (data.isLast) worker.terminate()
  })
  worker.postMessage(what)
  return () => worker.terminate()
}
