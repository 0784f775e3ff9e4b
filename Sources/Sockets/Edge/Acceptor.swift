internal import CLibwebsockets

/// The purpose of a listener, which decides whether its connections use TLS and what is trusted of their peers.
package enum Entrance: Sendable, Hashable {
    /// Clients, with TLS.
    case clients
    /// Proxies that terminate TLS, without TLS.
    case proxies
    /// Health checks and metrics, without TLS.
    case operations
    /// Other nodes that forward upgrades (`HeldUpgrade`), with TLS. They are trusted like proxies.
    case nodes

    var usesTLS: Bool { self == .clients || self == .nodes }
}

/// The listeners of a loop: takes the connections that arrive, within the quota, and makes an `EdgeConnection` of each.
final class Acceptor {
    private unowned let loop: Loop
    private var watches: [ListenerWatch] = []
    /// Connections whose PROXY header is being read, by descriptor.
    private var readers: [Int32: ProxyHeaderReader] = [:]

    init(_ loop: Loop) {
        self.loop = loop
    }

    func listen(on listener: Listener) {
        watches.append(ListenerWatch(listener, self, loop))
    }

    /// Closes the listeners. Established connections stay.
    func stopListening() {
        for watch in watches { watch.close() }
        watches.removeAll()
    }

    /// Closes the connections whose PROXY header is incomplete.
    func closePending() {
        for (descriptor, reader) in readers {
            reader.close()
            discard(descriptor, .proxies)
        }
        readers.removeAll()
    }

    fileprivate func accepted(_ descriptor: Int32, at entrance: Entrance) {
        guard loop.settings.quota(of: entrance).take() else {
            loop.counters.turnedAway += 1
            return Listener.discard(descriptor)
        }
        guard let peer = TCPSocket(descriptor: descriptor).peer else { return discard(descriptor, entrance) }
        let trust = loop.settings.proxies
        guard entrance == .proxies, trust.usesProxyProtocol else { return open(descriptor, Arrival(entrance: entrance, peer: peer)) }
        guard trust.trusts(peer) else { return refuse(descriptor, .untrusted) }
        readHeader(of: descriptor, from: peer)
    }

    private func readHeader(of descriptor: Int32, from peer: IPAddress) {
        let reader = ProxyHeaderReader(descriptor) { [unowned self] outcome in
            readers[descriptor] = nil
            switch outcome {
            case .success(let header): open(descriptor, Arrival(entrance: .proxies, peer: header.source ?? peer))
            case .failure(let fault): refuse(descriptor, fault)
            }
        }
        readers[descriptor] = reader
        reader.start(on: loop)
    }

    private func refuse(_ descriptor: Int32, _ fault: ProxyHeader.Fault) {
        loop.counters.proxyHeadersRefused[fault, default: 0] += 1
        discard(descriptor, .proxies)
    }

    /// Closes a connection that never became an `EdgeConnection`.
    private func discard(_ descriptor: Int32, _ entrance: Entrance) {
        loop.settings.quota(of: entrance).giveBack()
        Listener.discard(descriptor)
    }

    private func open(_ descriptor: Int32, _ arrival: Arrival) {
        TCPSocket(descriptor: descriptor).tuneForMedia()
        guard EdgeConnection(accepted: descriptor, arrival, on: loop) == nil else { return }
        loop.counters.acceptFailures += 1
        discard(descriptor, arrival.entrance)
    }
}

/// Accepts from one listener for a loop.
///
/// If the system has no descriptor for a new connection, the listener stays readable; it is left alone for `pauseMilliseconds`, so that the
/// loop does not spin. Waiting connections stay in the kernel's backlog.
@safe private final class ListenerWatch {
    private static let pauseMilliseconds: UInt64 = 100
    /// Accepted in one turn, and the time after which the rest is left to the next turn, so that a flood of new connections does not delay
    /// established ones.
    private static let acceptsPerTurn = 64
    private static let acceptNanosecondsMax: UInt64 = 1_000_000

    private let listener: Listener
    private unowned let acceptor: Acceptor
    private unowned let loop: Loop
    private var watch: DescriptorWatch?

    init(_ listener: Listener, _ acceptor: Acceptor, _ loop: Loop) {
        self.listener = listener
        self.acceptor = acceptor
        self.loop = loop
        watch = unsafe DescriptorWatch(
            listener.descriptor, on: loop.uvPointer, readable: { [unowned self] in acceptAll() },
            timerFired: { [unowned self] in watch?.resume() })
        watch?.resume()
    }

    private func acceptAll() {
        do {
            let began = uv_hrtime()
            for _ in 0..<Self.acceptsPerTurn {
                guard let descriptor = try listener.accept() else { return }
                acceptor.accepted(descriptor, at: listener.entrance)
                guard uv_hrtime() - began < Self.acceptNanosecondsMax else { return }
            }
        } catch {
            watch?.pause()
            watch?.startTimer(milliseconds: Self.pauseMilliseconds)
            loop.acceptFailed(error)
        }
    }

    func close() {
        watch?.close()
        listener.close()
    }
}
