internal import CLibwebsockets

/// What a client said when it asked for a WebSocket. Valid during `SocketOwner.admit` only.
@safe package struct UpgradeRequest {
    let wsi: OpaquePointer
    package let peerAddress: String
    package let isSecure: Bool

    package let path: String
    /// `path` and query are not all that the client asked for: there was an encoded line end in them.
    package let isPathCutOff: Bool
    /// The items of `Sec-WebSocket-Protocol`, in the client's order.
    package let subprotocols: [Substring]

    init(wsi: OpaquePointer, peerAddress: String, isSecure: Bool) {
        unsafe self.wsi = unsafe wsi
        self.peerAddress = peerAddress
        self.isSecure = isSecure
        path = unsafe Header.uri.text(of: wsi) ?? ""
        isPathCutOff = unsafe Header.isPathCutOff(in: wsi)
        subprotocols = unsafe Header.subprotocol.items(of: wsi)
    }

    /// What the client calls us, with the port.
    package var host: String? { unsafe Header.host.text(of: wsi) }
    package var authorization: String? { unsafe Header.authorization.text(of: wsi) }

    /// A value of the URL's query; nil if it is not there.
    package func query(_ name: String) -> String? {
        unsafe Query(of: wsi)[name]
    }
}
