import { type ReactNode, useState } from 'react'
import type { Drawn } from '../ui/picture.js'

interface DrawnSheetProps {
  drawn: Drawn
  /** what is drawn, for those who do not see it */
  alt: string
  /** said while it is being drawn */
  wait: string
  /** its shape before it is known: width to height, as CSS has it */
  shape: string
  className?: string
  /** what lies over it once it is there */
  children: ReactNode
}

/** A page or picture as the daemon draws it, in a frame of its shape. */
export function DrawnSheet({ drawn, alt, wait, shape, className = 'page-sheet', children }: DrawnSheetProps) {
  const [known, setKnown] = useState<number>()
  return (
    <div className={className} style={{ aspectRatio: known ?? shape }}>
      {drawn.url === undefined ? (
        <span className="faint small page-wait">{drawn.error ?? wait}</span>
      ) : (
        <>
          <img
            className="page-picture"
            src={drawn.url}
            alt={alt}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setKnown(naturalWidth / naturalHeight)}
          />
          {children}
        </>
      )}
    </div>
  )
}
