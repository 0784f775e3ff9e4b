internal import CLibwebsockets

/// What a client said when it asked for a WebSocket. Valid during `SocketOwner.admit` only.
@safe package struct UpgradeRequest {
    let wsi: OpaquePointer
    package let peerAddress: String
    package let isSecure: Bool

    package var path: String { unsafe Header.uri.text(of: wsi) ?? "" }
    /// What the client calls us, with the port.
    package var host: String? { unsafe Header.host.text(of: wsi) }
    package var authorization: String? { unsafe Header.authorization.text(of: wsi) }
    /// The items of `Sec-WebSocket-Protocol`, in the client's order.
    package var subprotocols: [String] {
        unsafe (Header.subprotocol.text(of: wsi) ?? "").split(separator: ",").map { item in
            String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// A value of the URL's query; nil if it is not there.
    package func query(_ name: String) -> String? {
        unsafe Query(of: wsi)[name]
    }
}
