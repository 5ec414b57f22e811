/** Where a page breaks, the frame around it stays, and says so. */
import { Component } from 'preact'
import type { ComponentChildren } from 'preact'
import { Button, PageHead } from '../parts/basics.js'
import { Empty } from '../parts/states.js'
import { texts } from '../texts.js'

export class Boundary extends Component<{ children: ComponentChildren }, { isBroken: boolean }> {
  override state = { isBroken: false }

  override componentDidCatch(error: unknown) {
    this.setState({ isBroken: true })
    // Seen by who looks for the cause.
    window.reportError(error)
  }

  override render() {
    if (!this.state.isBroken) return this.props.children
    return (
      <>
        <PageHead title={texts.broken.title} />
        <Empty
          title={texts.broken.what}
          action={<Button onClick={() => window.location.reload()}>{texts.broken.again}</Button>}
        />
      </>
    )
  }
}
