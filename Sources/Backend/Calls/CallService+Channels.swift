internal import Engine
internal import HTTPServer
internal import Identity
internal import Store
internal import Wire

/// The channels of users' devices and of assistants: their owners, requests and messages.
extension CallService {
    func identify(_ device: DeviceID, _ subject: UserTokens.Subject) async {
        do {
            let user = try await accounts.user(subject)
            devices.identify(device, as: Identity(text: user.text))
            // If the token was revoked before the device was registered, `closeDevices` has missed it.
            guard try await accounts.user(subject) == user else { return close(device, .tokenRevoked) }
            greet(device)
        } catch is HTTPError {
            close(device, .tokenRevoked)
        } catch {
            // The store is unavailable: let the device reconnect.
            close(device, .serverShutdown)
        }
    }

    func greet(_ device: DeviceID) {
        guard let owner = devices.greet(device) else { return }
        handle(.connected(device, of: owner))
    }

    /// - Parameter wait: called if the request waits for the store.
    func receive(_ request: CallRequest, number: UInt64?, from device: DeviceID, wait: () -> Void) {
        let requester = CallStateMachine.Requester.device(device, id: number)
        guard !workers.contains(device) else {
            return answer(
                .failure(CallError(.notAllowed, "a registered worker takes jobs; its agent leaves the room to hang up")), requester)
        }
        switch devices.admit(request, number: number, from: device) {
        case .handle where !Callees.waitsForStore(request): handle(.request(request, from: requester))
        case .handle:
            devices.pause(device, with: request, number: number)
            wait()
        case .deferred, .unknownDevice: break
        case .tooMany:
            answer(
                .failure(CallError(.limitExceeded, "wait for `hello` and for the answers to earlier requests", retryable: true)), requester)
        }
    }

    /// Handles a device's waiting requests in order.
    func workOff(_ device: DeviceID) async {
        while let (request, number) = devices.nextWaiting(of: device) {
            let requester = CallStateMachine.Requester.device(device, id: number)
            guard let owner = devices.owner(of: device) else { continue }
            do {
                let (resolved, unknown) = try await callees.resolve(request, of: owner)
                try checkNotEnded()
                if case .start = request { devices.hold(device) }
                exchange.repliedCall = nil
                handle(.request(resolved, from: requester, unknown: unknown))
                guard case .start = request else { continue }
                // A client learns of its call only once the call is stored, and cannot be lost with this node.
                if let call = exchange.repliedCall { try await settleStart(of: call) }
                sendHeldMessages(to: device)
            } catch let error as HTTPError where error == Self.servedElsewhere {
                // It has not heard of the call yet, unless too much was held back for it.
                if devices.isHeld(device) {
                    _ = devices.release(device)
                    answer(.failure(Self.noAnswer), requester)
                }
                // It may have missed events of other calls, and finds the node that serves them.
                close(device, .serverShutdown)
            } catch {
                // The protocol's errors have no code for failures of the store.
                answer(.failure(error as? CallError ?? Self.noAnswer), requester)
            }
        }
    }

    func close(_ device: DeviceID, _ reason: CloseReason) {
        sendHeldMessages(to: device)
        guard let address = devices.address(of: device) else { return }
        if devices.remove(device) != nil { handle(.disconnected(device)) }
        send(.close(address.number, reason), to: address.shard)
    }

    /// In a drain, disconnect devices without a call at once: they would miss new calls here.
    func closeIdleDevices() {
        // Closing a device is an input, too.
        guard !isClosingIdleDevices else { return }
        isClosingIdleDevices = true
        defer { isClosingIdleDevices = false }
        for (owner, ids) in devices.byOwner where calls.snapshot(of: owner).isEmpty {
            for id in ids { close(id, .serverShutdown) }
        }
    }

    func send(_ command: ChannelCommand, to shard: Int) {
        rooms.shards.send(.device(command), shard)
    }

    func send(_ message: [UInt8], to ids: [DeviceID]) {
        let open = ids.filter { !devices.isHeld($0) }.compactMap(devices.address)
        for (shard, addresses) in Dictionary(grouping: open, by: \.shard) { send(.send(message, to: addresses.map(\.number)), to: shard) }
        for id in ids where devices.isHeld(id) {
            if !devices.keep(message, for: id) { sendHeldMessages(to: id) }
        }
    }

    func sendHeldMessages(to device: DeviceID) {
        for message in devices.release(device) { send(message, to: [device]) }
    }
}
