internal import Foundation
package import Identity
package import OutgoingHTTP
package import Store
internal import Synchronization
package import Wire

/// The account at Apple that sends pushes (configuration `push.apns`).
package struct APNsSettings: Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, sandbox

        fileprivate var url: String {
            switch self {
            case .production: "https://api.push.apple.com"
            case .sandbox: "https://api.sandbox.push.apple.com"
            }
        }
    }

    package var key: ES256Key
    package var keyID: String
    package var teamID: String
    /// The topic of alerts: the app's bundle identifier.
    package var topic: String
    /// `https://host`, without a path.
    package var url: String

    private static let callSuffix = ".voip"

    /// The topic of VoIP pushes.
    var callTopic: String { topic + Self.callSuffix }

    /// - Parameters:
    ///   - topic: the bundle identifier; may end in `.voip`.
    ///   - url: a server other than Apple's, for tests.
    package init(key: ES256Key, keyID: String, teamID: String, topic: String, environment: Environment, url: String? = nil) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.topic = topic.hasSuffix(Self.callSuffix) ? String(topic.dropLast(Self.callSuffix.count)) : topic
        self.url = url ?? environment.url
    }
}

/// Sends pushes to Apple's push service (Apple, "Sending notification requests to APNs").
///
/// Requests that APNs cannot serve now (429, 5xx, no response) are retried with increasing delays until the push expires.
package final class APNsSender<C: Clock<Duration>>: Sendable {
    package enum Outcome: Sendable, Hashable {
        case delivered
        /// The app was removed, and its token is invalid since then; nil if APNs does not know the token.
        case unregistered(since: WallTime?)
        /// APNs will never accept the request. The reason is one of Apple's fixed codes.
        case rejected(String)
        /// The call stopped ringing before APNs accepted the push, or APNs did not respond in time.
        case expired

        var name: String {
            switch self {
            case .delivered: "delivered"
            case .unregistered: "unregistered"
            case .rejected: "rejected"
            case .expired: "expired"
            }
        }
    }

    /// In seconds. Apple accepts a token for an hour, and a new one at most every 20 minutes.
    private static var tokenLifetime: Int64 { 50 * 60 }

    private let settings: APNsSettings
    private let send: Outgoing
    private let clock: C
    private let now: @Sendable () -> WallTime
    private let random: @Sendable () -> Double
    private let token = Mutex<(text: String, issuedAt: Int64)?>(nil)

    /// - Parameters:
    ///   - send: speaks HTTP/2.
    ///   - random: random numbers in 0..<1 for jitter.
    package init(
        _ settings: APNsSettings, clock: C, now: @escaping @Sendable () -> WallTime, random: @escaping @Sendable () -> Double,
        sending send: @escaping Outgoing
    ) {
        self.settings = settings
        self.clock = clock
        self.now = now
        self.random = random
        self.send = send
    }

    /// - Parameter isWanted: called before each attempt; false ends the attempts.
    package func send(
        _ push: APNsPush, to device: SecretText, while isWanted: @Sendable () async -> Bool
    ) async -> Outcome {
        var failures = 0
        while !Task.isCancelled, now() < push.attemptsEndAt, await isWanted() {
            switch await attempt(push, to: device) {
            case .final(let outcome): return outcome
            case .renewToken where failures == 0: failures += 1
            case .retry, .renewToken:
                failures += 1
                let pause = Backoff.pushes.delay(afterFailures: failures, random: random())
                guard now() + pause < push.attemptsEndAt, (try? await clock.sleep(for: pause)) != nil else { return .expired }
            }
        }
        return .expired
    }

    private enum AttemptResult {
        case final(Outcome)
        case renewToken
        case retry
    }

    private func attempt(_ push: APNsPush, to device: SecretText) async -> AttemptResult {
        guard let token = providerToken() else { return .final(.rejected("NoProviderToken")) }
        let request = OutgoingHTTPRequest(
            url: settings.url + "/3/device/" + device.revealedText,
            headers: [
                OutgoingHeader("authorization", "bearer " + token),
                OutgoingHeader("apns-topic", push.isCall ? settings.callTopic : settings.topic),
                OutgoingHeader("apns-push-type", push.isCall ? "voip" : "alert"), OutgoingHeader("apns-priority", "10"),
                // The time after which APNs discards the push.
                OutgoingHeader("apns-expiration", String(push.expiresAt.milliseconds / 1_000)),
                OutgoingHeader("content-type", "application/json"),
            ], body: push.body)
        guard let response = try? await send(request) else { return .retry }
        let fault = try? JSON.decode(Fault.self, from: response.body, names: .asDeclared)
        switch (response.status, fault?.reason) {
        case (200, _): return .final(.delivered)
        case (410, _): return .final(.unregistered(since: fault?.timestamp.map(WallTime.init(milliseconds:))))
        case (400, "BadDeviceToken"): return .final(.unregistered(since: nil))
        case (403, "ExpiredProviderToken"):
            self.token.withLock { if $0?.text == token { $0 = nil } }
            return .renewToken
        case (429, _), (500..., _): return .retry
        case (_, let reason): return .final(.rejected(reason ?? "status \(response.status)"))
        }
    }

    /// An error's body.
    private struct Fault: Decodable {
        var reason: String
        /// Only with 410, in milliseconds since 1970.
        var timestamp: Int64?
    }

    private func providerToken() -> String? {
        let seconds = now().milliseconds / 1_000
        return token.withLock { token in
            if let token, seconds - token.issuedAt < Self.tokenLifetime { return token.text }
            token = settings.key.providerToken(id: settings.keyID, team: settings.teamID, now: seconds).map { ($0, seconds) }
            return token?.text
        }
    }
}

extension Backoff {
    /// 0.5, 1, 2, 4 seconds, half of it random: a call rings for 45.
    package static let pushes = Backoff(.exponential, unit: .milliseconds(500), delayMax: .seconds(4), jitter: .upperHalf)
}
