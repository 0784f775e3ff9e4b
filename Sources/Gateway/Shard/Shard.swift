internal import Backend
internal import Engine
internal import HTTPServer
internal import Identity
internal import Logging
internal import Sockets
internal import Wire

/// Sockets and rooms on one thread: connects the parts of a shard with its event loop.
///
/// | part | owns |
/// |---|---|
/// | `ConnectionAdmission` | decides upgrades to WebSocket |
/// | `ParticipantSessions` | opening, losing, resuming and closing participant connections |
/// | `RequestReader` | requests of participants |
/// | `MediaRelay` | the forwarding table, remote tracks, `ahead` tracks, trunks |
/// | `RoomHost` | rooms whose home is this shard; executes their effects |
/// | `Channels` | channels of users and assistants |
/// | `HTTPFrontEnd` | open HTTP requests |
/// | `HeldUpgrades` | in a cluster: connections whose room may be at home on another node |
/// | `ForwardedParticipants` | in a cluster: participants that reach this node through one that drains |
/// | `DrainCoordinator` | graceful shutdown |
/// | `Housekeeping` | everything that is done by the clock |
///
/// Parts share `ShardContext`, the `SlotTable` and the `FrameSender`. Nothing outside the thread holds a reference to
/// any of them: the mailbox is the only way in.
final class Shard: SocketDelegate {
    // `let`: a frame's way borrows parts from here without reference counting.
    private let context: ShardContext
    private let admission: ConnectionAdmission
    private let sessions: ParticipantSessions
    private let requests: RequestReader
    private let media: MediaRelay
    private let rooms: RoomHost
    private let channels: Channels
    private let http: HTTPFrontEnd
    private let drain: DrainCoordinator
    private let housekeeping: Housekeeping
    private let upgrades: HeldUpgrades
    private let forwarded: ForwardedParticipants

    init(index: Int, gateway: GatewayContext, mailbox: Mailbox<ShardMessage>) {
        context = ShardContext(index: index, gateway: gateway, mailbox: mailbox)
        let slots = SlotTable<ParticipantConnection>(shard: index)
        let sender = FrameSender(context)
        rooms = RoomHost(context, slots)
        media = MediaRelay(context, slots, sender, rooms)
        sessions = ParticipantSessions(context, slots, sender, rooms)
        rooms.connect(media: media, sessions: sessions)
        requests = RequestReader(context, slots, rooms)
        channels = Channels(context)
        http = HTTPFrontEnd(context)
        drain = DrainCoordinator(context, slots, rooms, channels, http)
        admission = ConnectionAdmission(context, rooms, channels, drain)
        housekeeping = Housekeeping(context, slots, sender, media, rooms, channels)
        upgrades = HeldUpgrades(context, admission)
        forwarded = ForwardedParticipants(context, slots)
    }

    /// Serves on the calling thread until the drain has ended.
    ///
    /// - Parameter ready: called once: with nil as soon as the shard serves, or with the error that prevents it.
    func run(listeners: [Listener], ready: ((any Error)?) -> Void) {
        defer { context.mailbox.close() }
        do {
            let gateway = context.gateway
            var settings = LoopSettings(server: gateway.settings.tls)
            settings.quota = gateway.quota
            settings.operationsQuota = gateway.operationsQuota
            settings.handshakeSecondsMax = gateway.settings.handshakeSecondsMax
            settings.proxies = gateway.settings.edge.proxies
            settings.fastPath = gateway.settings.fastPath
            if let cluster = gateway.settings.cluster {
                settings.nodes = ProxyTrust(networks: cluster.networks)
                settings.client = cluster.trust
            }
            context.start(try Loop(settings: settings, delegate: self))
        } catch {
            ready(error)
            return
        }
        for listener in listeners { context.loop.listen(on: listener) }
        housekeeping.scheduleNext()
        ready(nil)
        context.loop.run(wokenBy: context.mailbox)
        context.stopClock()
        rooms.reportOpenRoomsAsFinished()
    }

    private func reload(_ certificate: TLSFiles) {
        do {
            try context.loop.reloadTLS(certificate)
        } catch {
            context.log.error("certificate not reloaded; the previous one stays in use", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: Messages from other threads

    /// Handles the mailbox, then forwards frames received through trunks.
    ///
    /// Order: a mailbox is first in, first out, and a room's home posts effects in their order. Frames are taken from the trunks before
    /// the mailbox is read and forwarded after it, so a frame that was sent because of an effect is never forwarded before that effect.
    /// Effects that end a track or close its gate first forward the frames that were admitted before (`MediaRelay.forwardRemaining`).
    func woken() {
        media.takeTrunks()
        var hasLostMessages = false
        repeat {
            media.trunks.hasLateArrivals = false
            if context.drainMailbox(handle) { hasLostMessages = true }
        } while media.trunks.hasLateArrivals
        if hasLostMessages { startOver() }
        rooms.flushPlayoutReports()
        media.forwardArrivals()
        drain.finishIfEmpty()
    }

    /// Messages were dropped because this thread did not read them for a long time. Its connections and forwarding table have missed events
    /// and changes, so all are ended; clients may come back at once. Rooms have missed only reports and go on with participants elsewhere.
    private func startOver() {
        context.log.error(
            "messages of other shards were lost; all clients of this shard are disconnected",
            metadata: ["participants": "\(context.counters.participants)"])
        sessions.closeAll(.serverShutdown)
        channels.closeAll(.serverShutdown)
        media.forgetTracks()
    }

    private func handle(_ message: ShardMessage) {
        switch message {
        case .drain(let deadline, let wallClock): drain.start(until: deadline, wallClock: wallClock)
        case .reloadKeys(let keys): context.keys = keys
        case .reloadCertificate(let certificate): reload(certificate)
        case .emptied(let shard): drain.noteEmptied(shard)
        case .joined(let handle, let request): rooms.join(handle, request)
        case .input(let input, let handle): rooms.apply(input, fromRemote: handle)
        case .left(let handle, let reason): rooms.leave(handle, reason)
        case .deliver(let event, let handles, let isReplay): rooms.deliver(event, to: handles, isReplay: isReplay)
        case .effect(let effect): rooms.executeHere(effect)
        case .slotReleased(let handle): sessions.slotReleased(handle)
        case .takeAhead(let track): media.takeAhead(track)
        case .takeOver(let handle, let handover): sessions.takeOver(handle, handover)
        case .request(.device(let order)): channels.execute(order)
        case .request(.query(.counters, let reply)):
            housekeeping.publishMetrics()
            reply(.done)
        case .request(.query(let query, let reply)): rooms.answer(query, reply)
        case .validate(let request, let reply): reply(admission.validate(request))
        case .respond(let response, let number): http.respond(response, toRequest: number)
        case .cluster(.located(let number, let place)): upgrades.located(number, place)
        case .cluster(.checked(let number, let outcome)): upgrades.checked(number, outcome)
        case .cluster(.nodeEnded(let node)): upgrades.nodeEnded(node)
        case .cluster(.nodeDrains(let node)): forwarded.nodeDrains(node)
        case .cluster(.closeChannels): channels.closeAll(.serverShutdown)
        case .cluster(let order): rooms.execute(order)
        }
    }

    // MARK: SocketDelegate

    func hold(_ upgrade: HeldUpgrade) -> Bool {
        context.gateway.cluster != nil && upgrades.hold(upgrade)
    }

    func failed(_ upgrade: HeldUpgrade, _ failure: ForwardFailure) { upgrades.failed(upgrade, failure) }
    func abandoned(_ upgrade: HeldUpgrade) { upgrades.abandoned(upgrade) }
    func unavailable(_ upgrade: HeldUpgrade) -> HTTPServerResponse { HTTPServerResponse(HTTPError.homeUnavailable) }

    func admit(_ request: ReceivedRequest, as connection: Connection) -> HTTPServerResponse? {
        admission.admit(request, as: connection)
    }

    func handle(_ exchange: HTTPExchange) {
        http.handle(exchange)
    }

    func opened(_ connection: Connection) {
        if let channel = connection.context as? Channel { return channels.opened(channel) }
        guard let request = connection.context as? JoinRequest else { return connection.abort() }
        sessions.opened(connection, request)
        context.wake(within: Housekeeping.busyInterval)
    }

    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
        guard connection.slot >= 0 else { return channels.received(binaryFrom: connection) }
        media.received(message, from: connection)
    }

    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
        guard connection.slot >= 0 else { return channels.received(text: message, from: connection) }
        requests.received(message, from: connection)
    }

    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {
        guard connection.slot >= 0 else { return channels.ponged(connection) }
        guard media.ponged(payload, from: connection) else { return }
        sessions.noteDelivery(to: connection)
    }

    func writable(_ connection: Connection) {
        guard connection.slot >= 0 else { return channels.writable(connection) }
        media.writable(connection)
    }

    func refused(_ reason: CloseReason, on connection: Connection) {
        context.countClosed(reason)
    }

    func closed(_ connection: Connection, _ end: ConnectionEnd) {
        if !sessions.closed(connection, end) { channels.closed(connection) }
        drain.finishIfEmpty()
    }

    func acceptFailed(_ error: AcceptError) {
        housekeeping.logAcceptFailure(error)
    }

    func timerRang() {
        housekeeping.tick()
        drain.check()
        upgrades.tick()
        forwarded.tick()
        housekeeping.scheduleNext()
    }
}
