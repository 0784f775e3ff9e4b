/// All limits of the cluster's decisions.
package enum ClusterLimits {
    /// How often a node announces itself.
    package static let beatInterval: Duration = .milliseconds(250)
    /// A node has ended when its beats have not been received for this time.
    package static let nodeSilence: Duration = .milliseconds(1_500)
    /// A node that has not received its own beats for this time is cut off, or the broker is away. Shorter than `nodeSilence` by more than a
    /// beat, so that it stops judging others before their silence has lasted that long.
    package static let echoSilence: Duration = beatInterval * 4
    /// Nodes of a cluster; the beats of further ones are ignored.
    package static let nodesMax = 1_024
    /// A node that was not called for this time was suspended: it has missed beats, and may have lost its rooms.
    package static let suspensionMin: Duration = .milliseconds(500)
    /// The time between the start of a node's drain and the first client that is asked to leave, in which load balancers notice.
    package static let drainNotice: Duration = .seconds(2)
    /// Minimum time between two writes of a room's record, on average.
    package static let writeInterval: Duration = .milliseconds(250)
    /// Time of writes that a room may save up, so that the replies of a join do not wait for the interval.
    package static let writeBurst: Duration = writeInterval * 3
    /// A room's home reads its record if it has neither read nor written it for this time.
    package static let confirmationInterval: Duration = .seconds(4)
    /// The same for `lossWatch` after a home has found that the broker lost writes. A request of another home may have been under way then,
    /// and is repeated after the broker's timeout.
    package static let lossConfirmationInterval: Duration = .seconds(1)
    package static let lossWatch: Duration = .seconds(5)
    /// Minimum time between two visits to all rooms at home.
    package static let passInterval: Duration = .milliseconds(20)
    /// The time before another attempt after the broker did not answer.
    package static let retryInterval: Duration = .milliseconds(500)
    /// The time before another attempt after the broker refused a record. With `confirmationInterval` it is below 5 s, so that one of two homes
    /// of a room gives way in that time once the broker accepts records.
    package static let refusalInterval: Duration = .milliseconds(800)
    /// Reads and writes for one claim of a room, if other nodes claim it at the same time.
    package static let claimAttemptsMax = 5
    /// The bucket forgets records that have not been written for this time. Until then, those of ended rooms tell a home that was cut off.
    package static let recordAgeMax: Duration = .seconds(24 * 60 * 60)
    /// A room's home writes its record at least this often.
    package static let refreshInterval: Duration = recordAgeMax / 4
    /// The time for which a reply waits for its room's record.
    package static let promiseMax: Duration = .seconds(3)
    /// Requests for homes that wait on one node, and promises; further ones are answered at once.
    package static let waitingMax = 10_000
}
