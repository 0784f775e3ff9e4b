internal import CLibwebsockets
internal import Glibc

/// The purpose of a listener, which decides whether its connections use TLS and what is trusted of their peers.
package enum Entrance: Sendable, Hashable {
    /// Clients, with TLS.
    case clients
    /// Proxies that terminate TLS, without TLS.
    case proxies
    /// Health checks and metrics, without TLS.
    case operations
}

/// The origin of a connection without TLS, kept from its accept to its end for the requests on it.
///
/// libwebsockets holds it until the first request, whose object takes it over.
final class PlainArrival: Attachment {
    /// The peer, or the client that the proxy named in its PROXY header.
    let peer: IPAddress

    init(entrance: Entrance, peer: IPAddress) {
        self.peer = peer
        super.init()
        self.entrance = entrance
    }
}

/// The listeners of a loop, and the accepted connections that are not handed to libwebsockets yet.
final class Acceptor {
    private unowned let loop: Loop
    private var watches: [ListenerWatch] = []
    /// Connections whose PROXY header is being read, by descriptor.
    private var readers: [Int32: ProxyHeaderReader] = [:]
    /// Whether libwebsockets has made a wsi since `adopt` has handed a connection to it.
    private var hasWsi = false

    init(_ loop: Loop) {
        self.loop = loop
    }

    func listen(on listener: Listener, _ uv: UnsafeMutablePointer<uv_loop_t>) {
        let watch = ListenerWatch(listener: listener, loop: loop)
        unsafe watch.start(on: uv)
        watches.append(watch)
    }

    /// Closes the listeners. Established connections stay.
    func stopListening() {
        for watch in watches { watch.close() }
        watches.removeAll()
    }

    /// Closes the connections whose PROXY header is incomplete.
    func closePending() {
        for (descriptor, reader) in readers {
            reader.stop()
            discard(descriptor, .proxies)
        }
        readers.removeAll()
    }

    /// Takes over an accepted connection.
    func accepted(_ descriptor: Int32, at entrance: Entrance) {
        guard loop.settings.quota(of: entrance).take() else {
            loop.counters.turnedAway += 1
            return Listener.discard(descriptor)
        }
        guard entrance != .clients else { return adopt(descriptor, nil) }
        guard let peer = TCPSocket(descriptor: descriptor).peer else { return discard(descriptor, entrance) }
        let trust = loop.settings.proxies
        guard entrance == .proxies, trust.usesProxyProtocol else {
            return adopt(descriptor, PlainArrival(entrance: entrance, peer: peer))
        }
        guard trust.trusts(peer) else { return refuse(descriptor, .untrusted) }
        readHeader(of: descriptor, from: peer)
    }

    private func readHeader(of descriptor: Int32, from peer: IPAddress) {
        let reader = ProxyHeaderReader(descriptor) { [unowned self] result in
            readers[descriptor] = nil
            switch result {
            case .success(let header): adopt(descriptor, PlainArrival(entrance: .proxies, peer: header.source ?? peer))
            case .failure(let refusal): refuse(descriptor, refusal.fault)
            }
        }
        readers[descriptor] = reader
        let seconds = min(ProxyHeader.secondsMax, loop.settings.handshakeSecondsMax)
        unsafe reader.start(on: loop.uvPointer, loop.recordLayer, within: UInt64(seconds * 1_000))
    }

    private func refuse(_ descriptor: Int32, _ fault: ProxyHeader.Fault) {
        loop.counters.proxyHeadersRefused[fault, default: 0] += 1
        discard(descriptor, .proxies)
    }

    /// Closes a connection that was not handed to libwebsockets.
    private func discard(_ descriptor: Int32, _ entrance: Entrance) {
        loop.settings.quota(of: entrance).giveBack()
        Listener.discard(descriptor)
    }

    /// Hands a connection to libwebsockets, which closes it if that fails.
    ///
    /// Its place is given back once: by LWS_CALLBACK_WSI_DESTROY if libwebsockets has made a wsi, also for one whose handshake fails before
    /// this returns, and otherwise here.
    private func adopt(_ descriptor: Int32, _ arrival: PlainArrival?) {
        TCPSocket(descriptor: descriptor).tuneForMedia()
        let held = unsafe arrival.map { unsafe Unmanaged<Attachment>.passRetained($0) }
        arrival?.isHeldByLws = true
        hasWsi = false
        let vhost = unsafe arrival == nil ? loop.lws.serverVhost : loop.lws.plainVhost
        if let wsi = unsafe patchbay_adopt(vhost, descriptor, held?.toOpaque()) {
            // libwebsockets has a timeout of its own for TLS, whatever the context says.
            unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_SSL_ACCEPT, Int32(loop.settings.handshakeSecondsMax))
            return
        }
        // Without TLS, only a want of descriptors or memory fails.
        if arrival != nil || !hasWsi { loop.counters.acceptFailures += 1 }
        guard !hasWsi else { return }
        arrival?.isHeldByLws = false
        unsafe held?.release()
        loop.settings.quota(of: arrival?.entrance ?? .clients).giveBack()
    }

    func wsiCreated() { hasWsi = true }
}
