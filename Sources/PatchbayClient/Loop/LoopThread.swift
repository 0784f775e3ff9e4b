internal import Sockets
internal import Wire

/// The inner half of a `ClientLoop`: made on its thread, owns its sockets, rooms and channels, and nothing else refers to it.
final class LoopThread: SocketDelegate {
    private let mailbox: Mailbox<LoopMessage>
    private var inbox: [LoopMessage] = []
    private var rooms: [Int: RoomSession] = [:]
    private var channels: [Int: ChannelSession] = [:]
    private var armed: Instant?
    private(set) var loop: Loop!
    /// Whose `Loop.connect` is at work: it may fail before it returns.
    private var connecting: Line?

    init(mailbox: Mailbox<LoopMessage>) {
        self.mailbox = mailbox
    }

    /// Runs until it is told to stop.
    ///
    /// - Parameter started: called once, with nil or with why nothing can run here.
    func run(trusting trust: ClientTrust, started: ((any Error)?) -> Void) {
        do {
            loop = try Loop(settings: LoopSettings(client: trust), delegate: self)
        } catch {
            started(error)
            return
        }
        started(nil)
        loop.run(wokenBy: mailbox)
    }

    // MARK: For lines

    var now: Instant { loop.now }

    /// Sees to it that lines are looked after at `instant`, or before.
    func arm(at instant: Instant?) {
        guard let instant, armed.map({ instant < $0 }) ?? true else { return }
        armed = instant
        loop.wake(at: instant)
    }

    func connect(_ line: Line, to endpoint: Endpoint) -> Connection {
        connecting = line
        defer { connecting = nil }
        let connection = loop.connect(to: endpoint)
        connection.context = line
        return connection
    }

    func remove(_ line: Line) {
        rooms[line.id] = nil
        channels[line.id] = nil
    }

    // MARK: What comes through the door

    func woken() {
        mailbox.drain(into: &inbox)
        for message in inbox {
            switch message {
            case .open(let plan, let opening):
                let session = RoomSession(plan, opening: opening, thread: self)
                rooms[session.id] = session
                session.connect()
            case .room(let id, let command):
                if let session = rooms[id] { session.handle(command) } else { command.refuse(.ended) }
            case .openChannel(let plan, let opening):
                let session = ChannelSession(plan, opening: opening, thread: self)
                channels[session.id] = session
                session.connect()
            case .channel(let id, let command):
                if let session = channels[id] { session.handle(command) } else { command.refuse(.ended) }
            case .stop:
                loop.stop()
            }
        }
        inbox.removeAll(keepingCapacity: true)
    }

    func timerRang() {
        armed = nil
        let now = loop.now
        for room in rooms.values { room.tick(at: now) }
        for channel in channels.values { channel.tick(at: now) }
        arm(at: rooms.values.lazy.compactMap(\.deadline).min())
        arm(at: channels.values.lazy.compactMap(\.deadline).min())
    }

    // MARK: What comes from sockets

    func opened(_ connection: Connection) {
        line(of: connection)?.heard()
    }

    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
        line(of: connection)?.received(binary: message)
    }

    func received(text message: UnsafeRawBufferPointer, from connection: Connection) {
        line(of: connection)?.received(text: Array(message))
    }

    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {
        line(of: connection)?.heard()
    }

    func writable(_ connection: Connection) {
        line(of: connection)?.pump()
    }

    func closed(_ connection: Connection, _ end: ConnectionEnd) {
        line(of: connection)?.closed(connection, end)
    }

    func failed(_ connection: Connection, _ error: Sockets.ConnectError) {
        (line(of: connection) ?? connecting)?.failed(error)
    }

    /// Nothing but a line is ever a connection's context here, so nothing is checked for each frame.
    private func line(of connection: Connection) -> Line? {
        connection.context.map { unsafeDowncast($0, to: Line.self) }
    }
}

extension RoomCommand {
    /// Answers for a room that cannot.
    func refuse(_ failure: RequestFailure) {
        switch self {
        case .ask(_, _, let answer), .unpublish(_, _, let answer), .mute(_, _, _, let answer), .clear(_, _, _, let answer),
            .mark(_, _, _, _, let answer):
            answer.resume(returning: .failure(failure))
        case .publish(_, _, let publication): publication.resume(returning: .failure(failure))
        case .locate(_, let place): place.resume(returning: nil)
        case .listen(_, let sink): sink.finish()
        case .leave(_, let done): done?.resume()
        case .send, .tell, .cut: break
        }
    }
}
