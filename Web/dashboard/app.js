// The dashboard: registers its views, follows the address, and begins to watch.

import { followRoute, initialize } from './model/commands.js'
import './views/access-form.js'
import './views/figure-strip.js'
import './views/gateway-status.js'
import './views/nodes-board.js'
import './views/operations-board.js'
import './views/plot-board.js'
import './views/problem-list.js'
import './views/room-list.js'
import './views/room-panel.js'

addEventListener('hashchange', followRoute)
addEventListener('popstate', followRoute)
initialize()
