package import Wire

/// The address of a device's connection.
package struct DeviceAddress: Sendable {
    package let id: DeviceID
    package let shard: Int
    /// The shard's number for the connection.
    package let number: Int
    /// The Host header of its request.
    package let host: String?
    /// Expiry of its first token, in seconds since 1970.
    package let expires: Int64

    package init(id: DeviceID, shard: Int, number: Int, host: String?, expires: Int64) {
        self.id = id
        self.shard = shard
        self.number = number
        self.host = host
        self.expires = expires
    }

    /// Seconds until its first token expires.
    var expiresIn: Int64 { max(0, expires - WallClock.seconds) }
}

/// A command from a service to a shard about its devices. Disconnected devices are skipped.
package enum DeviceCommand: Sendable {
    case send([UInt8], to: [Int])
    /// Counts a handled request and sends the reply, if any.
    case refuse(RequestError.Code, [UInt8]?, to: Int)
    case close(Int, CloseReason)
}
